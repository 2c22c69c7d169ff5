"""Reads {"id", "lines"} on stdin, writes {"digest", "lines"}. Lines that make no sense: exit 1."""
import hashlib
import json
import sys


def fault(lines):
    if not isinstance(lines, list) or not lines:
        return "there are no lines"
    for number, line in enumerate(lines, 1):
        if not isinstance(line, dict) or not isinstance(line.get("article"), str):
            return f"line {number} names no article"
        quantity = line.get("quantity")
        if not isinstance(quantity, int) or quantity < 1:
            return f"line {number} has no quantity of at least 1"
    return None


args = json.load(sys.stdin)
lines = args.get("lines")
wrong = fault(lines)
if wrong:
    sys.exit(f"order {args.get('id')}: {wrong}")
canonical = json.dumps(lines, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
digest = hashlib.sha256(canonical.encode()).hexdigest()
json.dump({"digest": digest, "lines": len(lines)}, sys.stdout)
