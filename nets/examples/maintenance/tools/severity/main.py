"""Reads {"findings": [...]}: sorts them, drops what is said twice, and says how bad it is as a whole."""
import json
import sys

WEIGHT = {"critical": 100, "unknown": 50, "warning": 10, "info": 1}
seen, findings = set(), []
for finding in json.load(sys.stdin)["findings"]:
    key = (finding["check"], finding["text"])
    if key not in seen:
        seen.add(key)
        findings.append(finding)
findings.sort(key=lambda f: (-WEIGHT.get(f["severity"], 50), f["check"], f["text"]))
counts = {name: sum(1 for f in findings if f["severity"] == name) for name in WEIGHT}
score = sum(WEIGHT.get(f["severity"], 50) for f in findings)
level = "red" if counts["critical"] else "yellow" if counts["warning"] or counts["unknown"] else "green"
json.dump({"findings": findings, "counts": counts, "score": score, "level": level}, sys.stdout)
