"""Reads {"passwd": [lines of /etc/passwd], "idleDays": {user: days}}: accounts that look wrong."""
import json
import sys

NO_LOGIN = ("/usr/sbin/nologin", "/sbin/nologin", "/bin/false")
args = json.load(sys.stdin)
findings, logins = [], []


def finding(severity, text):
    findings.append({"check": "user-audit", "severity": severity, "text": text})


for line in args["passwd"]:
    fields = line.split(":")
    if len(fields) != 7:
        finding("warning", f"a line of passwd has {len(fields)} fields: {line[:40]}")
        continue
    name, password, uid, shell = fields[0], fields[1], fields[2], fields[6]
    if uid == "0" and name != "root":
        finding("critical", f"{name} has uid 0")
    if password == "":
        finding("critical", f"{name} has no password")
    if shell in NO_LOGIN:
        continue
    logins.append(name)
    idle = args.get("idleDays", {}).get(name, 0)
    if idle > 90:
        finding("warning", f"{name} has not logged in for {idle} days")
json.dump({"findings": findings, "logins": logins}, sys.stdout)
