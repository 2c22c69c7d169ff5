"""Reads {"lines": [...]}: counts log lines by level; many errors among them are a finding."""
import collections
import json
import re
import sys

LEVEL = re.compile(r"\b(DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL)\b")
levels = collections.Counter()
lines = json.load(sys.stdin)["lines"]
for line in lines:
    match = LEVEL.search(line)
    levels[match.group(1).replace("WARNING", "WARN") if match else "NONE"] += 1
bad = levels["ERROR"] + levels["FATAL"]
findings = []
if lines and bad / len(lines) > 0.1:
    findings.append({"check": "log-levels", "severity": "critical" if levels["FATAL"] else "warning",
                     "text": f"{bad} of {len(lines)} log lines are errors"})
json.dump({"findings": findings, "levels": dict(sorted(levels.items()))}, sys.stdout)
