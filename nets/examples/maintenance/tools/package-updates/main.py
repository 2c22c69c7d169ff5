"""Reads {"packages": [{"name", "installed", "available", "security"}]}: what should be updated?"""
import itertools
import json
import re
import sys


def parts(version):
    """Numbers compare as numbers, the rest as text: 1.10 is above 1.9."""
    return [(0, int(p), "") if p.isdigit() else (1, 0, p) for p in re.findall(r"\d+|[a-z]+", version.lower())]


def older(left, right):
    for a, b in itertools.zip_longest(parts(left), parts(right), fillvalue=(0, -1, "")):
        if a != b:
            return a < b
    return False


packages = json.load(sys.stdin)["packages"]
outdated = [p for p in packages if older(p["installed"], p["available"])]
security = sorted(p["name"] for p in outdated if p.get("security"))
findings = [{"check": "package-updates", "severity": "critical", "text": f"{name} has a security update"}
            for name in security]
others = len(outdated) - len(security)
if others:
    findings.append({"check": "package-updates", "severity": "info", "text": f"{others} other packages are outdated"})
json.dump({"findings": findings, "update": security + sorted(p["name"] for p in outdated if not p.get("security"))},
          sys.stdout)
