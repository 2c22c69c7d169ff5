"""Reads {"wanted": [names], "running": {name: state}}: services that should run and do not."""
import json
import sys

args = json.load(sys.stdin)
running = {name for name, state in args["running"].items() if state == "active"}
failed = sorted(name for name, state in args["running"].items() if state == "failed")
wanted = set(args["wanted"])
findings = [{"check": "service-diff", "severity": "critical", "text": f"{name} has failed"} for name in failed]
for name in sorted(wanted - running - set(failed)):
    findings.append({"check": "service-diff", "severity": "critical", "text": f"{name} does not run"})
for name in sorted(running - wanted):
    findings.append({"check": "service-diff", "severity": "info", "text": f"{name} runs, but nobody asked for it"})
json.dump({"findings": findings, "restart": sorted((wanted - running) | set(failed))}, sys.stdout)
