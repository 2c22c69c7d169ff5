# Reads {"cpus": n, "load": [1, 5 and 15 minutes]}: is there more work than processors?
input=$(cat)
cpus=$(printf '%s' "$input" | sed -n 's/.*"cpus": *\([0-9]*\).*/\1/p')
load=$(printf '%s' "$input" | sed -n 's/.*"load": *\[\([^]]*\)\].*/\1/p' | tr ',' ' ')
[ -n "$cpus" ] && [ "$cpus" -gt 0 ] && [ -n "$load" ] || { echo "needs cpus and load" >&2; exit 2; }
printf '%s\n' "$load" | awk -v cpus="$cpus" '
  { ratio = $3 / cpus
    trend = $1 > $3 * 1.2 ? "rising" : $1 < $3 * 0.8 ? "falling" : "steady"
    if (ratio >= 2) severity = "critical"; else if (ratio >= 1) severity = "warning"
    if (severity) finding = sprintf("{\"check\":\"load-check\",\"severity\":\"%s\",\"text\":\"the load is %.1f times the processors, %s\"}", severity, ratio, trend)
    printf "{\"findings\":[%s],\"trend\":\"%s\"}\n", finding, trend }'
