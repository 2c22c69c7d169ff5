"""Reads {"now", "certificates": [{"name", "notAfter"}]}: which run out within 30 days?"""
import datetime
import json
import sys


def moment(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


args = json.load(sys.stdin)
now = moment(args["now"])
findings = []
for certificate in sorted(args["certificates"], key=lambda c: c["notAfter"]):
    days = (moment(certificate["notAfter"]) - now).days
    if days >= 30:
        continue
    text = f"{certificate['name']} expired" if days < 0 else f"{certificate['name']} expires in {days} days"
    findings.append({"check": "certificate-expiry", "text": text,
                     "severity": "critical" if days < 7 else "warning"})
json.dump({"findings": findings, "checked": len(args["certificates"])}, sys.stdout)
