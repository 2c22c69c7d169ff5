# Reads {"limit": percent, "disks": [{"mount", "used"}]}, finds file systems that are too full.
# Plain sh and awk: one line a disk, then one finding for each above the limit.
input=$(cat)
limit=$(printf '%s' "$input" | sed -n 's/.*"limit": *\([0-9]*\).*/\1/p')
[ -n "$limit" ] || { echo "no limit given" >&2; exit 2; }
printf '%s' "$input" | grep -o '{[^{}]*"mount"[^{}]*}' | awk -v limit="$limit" '
  { mount = $0; sub(/.*"mount": *"/, "", mount); sub(/".*/, "", mount)
    used = $0; sub(/.*"used": */, "", used); used += 0
    disks++
    if (used < limit) next
    full++
    severity = used >= 95 ? "critical" : "warning"
    list = list (full > 1 ? "," : "") \
      sprintf("{\"check\":\"disk-check\",\"severity\":\"%s\",\"text\":\"%s is %d %% full\"}", severity, mount, used) }
  END { printf "{\"findings\":[%s],\"disks\":%d,\"full\":%d}\n", list, disks, full }'
