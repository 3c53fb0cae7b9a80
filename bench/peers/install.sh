#!/bin/sh
# The programs that the benchmark compares with, into target/peers. One that cannot be installed leaves a
# note, NAME.missing, and its line of the table says so.
set -u
here=$(cd "$(dirname "$0")" && pwd)
peers=${HARNESS_BENCH_PEERS:-$(cd "$here/../.." && pwd)/target/peers}
mkdir -p "$peers"

missing() { # NAME WHY
  echo "$2" >"$peers/$1.missing"
  echo "not installed: $1: $2" >&2
}

# node: packages of npm, once for each version of the list.
stamp=$peers/node-$(cksum <"$here/package.json" | tr ' ' -)
if [ ! -e "$stamp" ]; then
  rm -rf "$peers/node_modules"
  cp "$here/package.json" "$peers/package.json"
  if ! command -v npm >/dev/null 2>&1; then
    missing node "there is no npm"
  elif (cd "$peers" && npm install --ignore-scripts --no-package-lock --no-audit --no-fund --silent); then
    touch "$stamp"
  else
    missing node "npm could not install bench/peers/package.json"
  fi
fi

# An environment for each Python package, since they ask for different versions of the same ones.
python() { # NAME REQUIREMENT
  [ ! -e "$peers/$1/stamp-$2" ] || return
  rm -rf "${peers:?}/$1"
  # One of them names a newer Python than it needs.
  if python3 -m venv "$peers/$1" >/dev/null 2>&1 &&
    "$peers/$1/bin/pip" install --quiet --disable-pip-version-check --ignore-requires-python "$2"; then
    touch "$peers/$1/stamp-$2"
  else
    rm -rf "${peers:?}/$1"
    missing "$1" "pip could not install $2"
  fi
}
python mcp-background-job mcp-background-job==0.1.2
python mcp-yieldshell mcp-yieldshell==1.1.2
python systemd jeepney==0.9.0

if [ ! -e "$peers/tsp" ]; then
  if ! command -v tsp >/dev/null 2>&1 && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends task-spooler >/dev/null
  fi
  if command -v tsp >/dev/null 2>&1; then
    ln -s "$(command -v tsp)" "$peers/tsp"
  else
    missing task-spooler "there is no tsp (on Debian: apt-get install task-spooler)"
  fi
fi

if [ ! -e "$peers/bin/pueue" ] && ! cargo install --quiet --locked --root "$peers" pueue@4.0.4; then
  missing pueue "cargo could not install pueue"
fi
exit 0
