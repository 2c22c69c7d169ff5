# shellcheck shell=bash
# Sourced by scripts that run a list of named steps: prints what runs and how long it took, keeps the
# output of each step in a file, and shows the end of that file when the step fails.
#
#   steps_begin FOLDER        where the logs go
#   step NAME COMMAND...      output to the log only
#   step_shown NAME COMMAND...  output to the terminal too
#   steps_end                 the summary

steps_begin() {
  steps_folder=$1
  steps_started=$SECONDS
  steps_summary=()
  mkdir -p "$steps_folder"
}

_step() {
  local shown=$1 name=$2 log status=0 started=$SECONDS
  shift 2
  log="$steps_folder/$(tr -c 'a-z0-9\n' '-' <<<"$name").log"
  echo "--> $name"
  if [ "$shown" = shown ]; then
    "$@" 2>&1 | tee "$log" || status=$?
  else
    "$@" >"$log" 2>&1 || status=$?
  fi
  steps_summary+=("$(printf '%5d s  %-6s %s' $((SECONDS - started)) "$([ $status = 0 ] && echo ok || echo FAILED)" "$name")")
  if [ $status != 0 ]; then
    [ "$shown" = shown ] || tail -n 60 "$log"
    echo "    $name failed with exit code $status; the whole log: $log" >&2
  fi
  return $status
}
step() { _step hidden "$@"; }
step_shown() { _step shown "$@"; }

steps_end() {
  echo
  printf '%s\n' "${steps_summary[@]}"
  printf '%5d s  in all\n' $((SECONDS - steps_started))
}
