# Runs before the code of a node, in the same shell. When the code ends, it writes to descriptor 3: a report as one line of
# JSON and, after a success, next and result with a NUL byte between them. While the code runs, descriptor 3 is closed. Bash
# keeps it as the first free descriptor from 10 on, which programs that the code starts do not inherit.
__pflow_kept=10
while [ -e "/dev/fd/$__pflow_kept" ]; do
  __pflow_kept=$((__pflow_kept + 1))
done
__pflow_line=0
__pflow_report() {
  builtin trap - ERR
  if [ "$1" -ne 0 ]; then
    builtin printf '{"kind":"exit","line":%d}\n' "$__pflow_line"
  elif [ -z "${result+set}" ]; then
    builtin printf '{"kind":"result","message":"The code ended, and nothing was assigned to result"}\n'
  else
    builtin printf '{"done":true}\n%s\0%s' "${next-}" "$result"
  fi
  return "$1"
}
__pflow_failed() {
  [ "$3" != 'eval "$__pflow_code"' ] || return 0 # the whole code
  __pflow_line=$2
  case $- in
    *e*) [ "$BASH_SUBSHELL" -ne 0 ] || __pflow_report "$1" >&"$__pflow_kept" ;; # the shell exits now
  esac
}
exit() {
  local __pflow_status=$?
  if [ "$BASH_SUBSHELL" -eq 0 ]; then
    [ $# -gt 0 ] && __pflow_status=$(($1 & 255))
    __pflow_line=${BASH_LINENO[0]}
    __pflow_report "$__pflow_status" >&"$__pflow_kept"
  fi
  builtin exit "$__pflow_status"
}
unset result next
for __pflow_name in "${__pflow_requires[@]}"; do
  if ! command -v "$__pflow_name" >/dev/null; then
    __pflow_missing="${__pflow_missing-}${__pflow_missing+,}\"$__pflow_name\""
  fi
done
if [ -n "${__pflow_missing-}" ]; then
  builtin printf '{"kind":"requires","message":"The code requires commands that are not found: %s","modules":[%s]}\n' "${__pflow_missing//\"/}" "$__pflow_missing" >&3
  builtin exit 1
fi
unset __pflow_name __pflow_requires __pflow_missing
set -E
trap '__pflow_failed $? $LINENO "$BASH_COMMAND"' ERR
