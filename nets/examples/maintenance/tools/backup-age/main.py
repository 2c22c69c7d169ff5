"""Reads {"now", "backups": [{"set", "at"}], "maxHours"}: is the newest backup of each set fresh?"""
import datetime
import json
import sys


def moment(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


args = json.load(sys.stdin)
now = moment(args["now"])
newest = {}
for backup in args["backups"]:
    at = moment(backup["at"])
    newest[backup["set"]] = max(at, newest.get(backup["set"], at))
findings, hours = [], {}
for name, at in sorted(newest.items()):
    hours[name] = int((now - at).total_seconds() // 3600)
    if hours[name] > args["maxHours"]:
        severity = "critical" if hours[name] > 3 * args["maxHours"] else "warning"
        findings.append({"check": "backup-age", "severity": severity,
                         "text": f"the newest backup of {name} is {hours[name]} hours old"})
json.dump({"findings": findings, "hours": hours}, sys.stdout)
