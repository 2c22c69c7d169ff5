# Reads {"disks": [{"mount", "inodes", "inodesUsed"}]}, finds file systems that run out of inodes,
# which `df` does not show and which stops writes as surely as a full disk.
grep -o '{[^{}]*"mount"[^{}]*}' | awk '
  function number(name,   text) { text = $0; if (!sub(".*\"" name "\": *", "", text)) return -1; return text + 0 }
  { mount = $0; sub(/.*"mount": *"/, "", mount); sub(/".*/, "", mount)
    total = number("inodes"); used = number("inodesUsed")
    if (total <= 0 || used < 0) next
    percent = int(used * 100 / total)
    if (percent > worst) worst = percent
    if (percent < 80) next
    count++
    list = list (count > 1 ? "," : "") \
      sprintf("{\"check\":\"inode-check\",\"severity\":\"%s\",\"text\":\"%s has used %d %% of its inodes\"}", \
              percent >= 95 ? "critical" : "warning", mount, percent) }
  END { printf "{\"findings\":[%s],\"worst\":%d}\n", list, worst }'
