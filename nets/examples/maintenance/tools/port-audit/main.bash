# Reads {"listening": [ports], "allowed": [ports]}: who listens without being asked to?
set -euo pipefail
input=$(cat)
numbers() { # the list of numbers under a key, one a line
  local list=${input#*\"$1\":}
  [ "$list" != "$input" ] || return 0
  list=${list#*[}
  tr ',' '\n' <<<"${list%%]*}" | tr -d ' ' | sed '/^$/d'
}
declare -A allowed=()
while read -r port; do allowed[$port]=1; done < <(numbers allowed)
findings='' open=0
while read -r port; do
  open=$((open + 1))
  [ -z "${allowed[$port]:-}" ] || { unset "allowed[$port]"; continue; }
  severity=warning
  if ((port < 1024)); then severity=critical; fi
  findings+="${findings:+,}{\"check\":\"port-audit\",\"severity\":\"$severity\",\"text\":\"port $port is open and not allowed\"}"
done < <(numbers listening | sort -n)
for port in $(printf '%s\n' "${!allowed[@]}" | sort -n); do
  findings+="${findings:+,}{\"check\":\"port-audit\",\"severity\":\"warning\",\"text\":\"nobody listens on port $port\"}"
done
printf '{"findings":[%s],"open":%d}\n' "$findings" "$open"
