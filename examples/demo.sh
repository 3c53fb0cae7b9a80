#!/bin/bash
# The whole story in a throw-away directory: a task, its wake, a crash of the daemon, a leak that does not leak.
set -euo pipefail
command -v pgrep >/dev/null || { echo "pgrep is missing: install procps" >&2; exit 1; }
programs=${PROGRAMS:-$(cd "$(dirname "$0")/../target/release" && pwd)}
PATH=$programs:$PATH
place=$(mktemp -d "${TMPDIR:-/tmp}/demo.XXXXXX")
mkdir "$place/work"
cat >"$place/demo.toml" <<TOML
workspace = "$place/work"
[bash.unit]
timeout_stop_sec = 2
TOML
ctl=(harnessctl --runtime-dir "$place/run")

start() {
  rm -f "$place/notes"
  mkfifo "$place/notes"
  harnessd --agent demo --config "$place/demo.toml" --state-dir "$place/state" --runtime-dir "$place/run" 2>"$place/notes" 9<&- &
  daemon=$!
  exec 9<"$place/notes" # held open, so that the daemon's log always has a reader
  while read -r line <&9; do
    case $line in *" ready "*) return ;; esac
  done
  echo "the daemon did not start" >&2
  exit 1
}
finish() {
  if kill -INT "$daemon" 2>/dev/null; then wait "$daemon" || true; fi
  rm -rf "$place"
}
trap finish EXIT
step() { printf '\n\033[1m%s\033[0m\n' "$*"; }
show() { printf '$ harnessctl %s\n' "$*"; "${ctl[@]}" "$@"; }
[ -t 1 ] || step() { printf '\n%s\n' "$*"; }

step "1. The daemon starts, and its keeper with it"
start
show status

step "2. A command runs as a task, with its exit code"
show run --wait=30 -- 'echo hello from a task; exit 3' || echo "(exit code $?)"

step "3. A long one goes on in the background"
show run --name build -- 'echo compiling; sleep 2; echo done'

step "4. The daemon is killed with kill -9, the task runs on"
kill -9 "$daemon"
wait "$daemon" 2>/dev/null || true
start
show list

step "5. Its end is told as a wake, once"
show wakes --wait=30
show wakes --ack
show list

step "6. A task that leaves processes behind leaves none"
escapee="sleep 1000.$$"
show run --wait=30 -- "setsid nohup $escapee & echo started a daemon"
if pgrep -af "$escapee"; then exit 1; fi
echo "(nothing is left)"

step "7. A failing service is restarted by systemd's rules"
show run --wait=30 --unit restart=on-failure --unit restart_sec=100ms --unit start_limit_burst=3 -- 'echo try; exit 1' || echo "(exit code $?)"

step "8. An MCP client would be given this"
show mcp-config --client claude

step "The end: everything is stopped"
kill -INT "$daemon"
wait "$daemon"
if pgrep -af "$place/"; then exit 1; fi
echo "(the daemon, the keeper and every task are gone)"
