"""Reads {"disks": [{"mount", "history": [percent a day, oldest first]}]}: when will each be full?

A straight line by least squares through what was measured; less than 14 days to go is a finding.
"""
import json
import sys


def slope(values):
    n = len(values)
    mean_x, mean_y = (n - 1) / 2, sum(values) / n
    spread = sum((x - mean_x) ** 2 for x in range(n))
    return sum((x - mean_x) * (y - mean_y) for x, y in enumerate(values)) / spread


findings, forecast = [], {}
for disk in json.load(sys.stdin)["disks"]:
    history = disk.get("history", [])
    if len(history) < 3:
        continue
    growth = slope(history)
    if growth <= 0:
        continue
    days = round((100 - history[-1]) / growth)
    forecast[disk["mount"]] = days
    if days < 14:
        severity = "critical" if days < 3 else "warning"
        findings.append({"check": "disk-forecast", "severity": severity,
                         "text": f"{disk['mount']} will be full in {days} days"})
json.dump({"findings": findings, "daysLeft": forecast}, sys.stdout)
