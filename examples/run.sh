#!/bin/sh
# Starts a harness for the current directory and says what to paste into an MCP client. Ctrl-C ends it and its tasks.
set -eu
programs=$(cd "$(dirname "$0")/../target/release" && pwd)
PATH=$programs:$PATH
export PATH

if harnessctl --json status >/dev/null 2>&1; then
  echo "A harness runs already:" >&2
  harnessctl status >&2
else
  harnessd --user &
  daemon=$!
  trap 'kill -INT "$daemon" 2>/dev/null; wait "$daemon"; exit' INT TERM
  harnessctl --wait-ready 30 status >&2
fi

echo
echo "Paste this into a file, say harness.json:"
echo
harnessctl mcp-config --client claude
echo
echo "Other clients: harnessctl mcp-config --client codex, or generic. Try: $programs/harnessctl run --follow -- echo hello"
[ -z "${daemon-}" ] || wait "$daemon"
