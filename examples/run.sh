#!/bin/sh
# Starts a harness for the current directory and says what to paste into an MCP client. Ctrl-C ends it and its tasks.
set -eu
programs=$(cd "$(dirname "$0")/../target/release" && pwd)

echo "Paste this into a file, say harness.json:"
echo
# It says that no harness runs yet, which is so for a moment only.
{ "$programs/harnessctl" mcp-config --client claude 2>&1 >&3 | sed '/: no harness is running /d' >&2; } 3>&1
cat <<TEXT

Other clients: harnessctl mcp-config --client codex, or generic.
To look at it from another terminal:

    export PATH=$programs:\$PATH
    harnessctl status
    harnessctl run --follow -- echo hello

TEXT
exec "$programs/harnessd" --user
