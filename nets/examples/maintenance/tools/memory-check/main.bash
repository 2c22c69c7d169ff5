# Reads {"memory": {"totalKb", "availableKb", "swapTotalKb", "swapFreeKb"}}: how tight is it?
set -euo pipefail
input=$(cat)
number() { # the number under a key
  [[ $input =~ \"$1\":\ *([0-9]+) ]] || { echo "no $1 given" >&2; exit 2; }
  echo "${BASH_REMATCH[1]}"
}
total=$(number totalKb) available=$(number availableKb)
swap=$(number swapTotalKb) swap_free=$(number swapFreeKb)
((total > 0)) || { echo "a machine without memory" >&2; exit 2; }
used=$(((total - available) * 100 / total))
swapped=0
if ((swap > 0)); then swapped=$(((swap - swap_free) * 100 / swap)); fi
findings=''
add() { findings+="${findings:+,}{\"check\":\"memory-check\",\"severity\":\"$1\",\"text\":\"$2\"}"; }
if ((used >= 95)); then add critical "$used % of the memory is in use"; elif ((used >= 85)); then add warning "$used % of the memory is in use"; fi
if ((swapped >= 50)); then add warning "$swapped % of the swap is in use"; fi
printf '{"findings":[%s],"usedPercent":%d,"swapPercent":%d}\n' "$findings" "$used" "$swapped"
