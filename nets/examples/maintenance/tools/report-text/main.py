"""Reads {"host", "level", "counts", "plan"}: the report that a person reads."""
import json
import sys
import textwrap

args = json.load(sys.stdin)
counts = ", ".join(f"{n} {name}" for name, n in args["counts"].items() if n) or "nothing found"
lines = [f"Maintenance of {args['host']}: {args['level']}", f"Found: {counts}", ""]
steps = args["plan"]["steps"]
lines.append(f"In the window ({args['plan']['usedMinutes']} minutes):" if steps else "Nothing to do in the window.")
for step in steps:
    entry = f"{step['at']:>4} min  {step['task']} ({step['minutes']} min)"
    lines += textwrap.wrap(entry, 72, subsequent_indent=" " * 10)
if args["plan"]["later"]:
    lines += ["", "Put off:"] + [f"  - {text}" for text in args["plan"]["later"]]
json.dump({"text": "\n".join(lines) + "\n", "lines": len(lines)}, sys.stdout)
