#!/bin/sh
# What the tests run beside the product: as root on Debian it is installed, else what is missing is named.
# A missing client makes its tests say `skipped`, and nothing else.
set -u
here=$(cd "$(dirname "$0")" && pwd)
tools=${HARNESS_TEST_TOOLS:-$(cd "$here/../.." && pwd)/target/tools}
mkdir -p "$tools"

missing=
for pair in gcc:gcc python3:python3 python3-venv:- npm:npm node:nodejs jq:jq dbus-daemon:dbus-daemon systemctl:systemd setpriv:util-linux pgrep:procps mmdebstrap:mmdebstrap nix:nix-bin; do
  program=${pair%%:*}
  package=${pair#*:}
  case $program in
  python3-venv) python3 -c 'import ensurepip, venv' 2>/dev/null || missing="$missing python3-venv" ;;
  *) command -v "$program" >/dev/null 2>&1 || missing="$missing $package" ;;
  esac
done
if [ -n "$missing" ]; then
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
  else
    echo "missing for some tests:$missing (on Debian: apt-get install$missing)" >&2
  fi
fi

# A stamp for the set that is there, so that a second run asks no registry.
stamp() { cat "$@" | cksum | tr ' ' -; }

python=$(stamp "$here/requirements.txt")
if [ ! -e "$tools/python-$python" ] && command -v python3 >/dev/null 2>&1; then
  rm -rf "$tools/venv" "$tools"/python-*
  if python3 -m venv "$tools/venv" && "$tools/venv/bin/pip" install --quiet --disable-pip-version-check -r "$here/requirements.txt"; then
    touch "$tools/python-$python"
  else
    echo "missing for some tests: the Python packages of tests/tools/requirements.txt" >&2
  fi
fi

node=$(stamp "$here/package.json")
if [ ! -e "$tools/node-$node" ] && command -v npm >/dev/null 2>&1; then
  rm -rf "$tools/node_modules" "$tools"/node-*
  cp "$here/package.json" "$tools/package.json"
  if (cd "$tools" && npm install --no-package-lock --no-audit --no-fund --silent); then
    touch "$tools/node-$node"
  else
    echo "missing for some tests: the npm packages of tests/tools/package.json" >&2
  fi
fi
# What reads and formats the Nix files.
"$here/../../nix/tests/install.sh" "$tools"
# A systemd that is newer than the machine's, to compare with.
newer=$(HARNESS_TEST_TOOLS=$tools "$here/../testbed/newer-systemd") || echo "missing for some tests: a newer systemd (${newer#skipped: })" >&2
exit 0
