#!/bin/sh
# What the tests of the Nix files run: an evaluator and a formatter, where the machine has none. On Debian, as root,
# the next release's Nix is unpacked (nothing of it is configured or has a daemon); the formatter is a crate.
#
#   nix/tests/install.sh DIR    puts nix/bin and bin/nixfmt into DIR
set -u
directory=${1:?a directory}
release=trixie
mkdir -p "$directory"
directory=$(realpath "$directory")

missing() { echo "missing for some tests: $*" >&2; }

if ! command -v nixfmt >/dev/null 2>&1 && [ ! -x "$directory/bin/nixfmt" ]; then
  cargo install --quiet nixfmt_rs --version 0.5.3 --locked --root "$directory" || missing "nixfmt (crate nixfmt_rs)"
fi

[ ! -x "$directory/nix/bin/nix-instantiate" ] || exit 0
# Older ones cannot read today's nixpkgs.
if command -v nix-instantiate >/dev/null 2>&1; then
  oldest=$(printf '%s\n2.18\n' "$(nix-instantiate --version | sed 's/.* //')" | sort -V | head -n 1)
  [ "$oldest" != 2.18 ] || exit 0
fi
if [ "$(id -u)" != 0 ] || ! command -v mmdebstrap >/dev/null 2>&1; then
  missing "nix 2.18 or later (as root on Debian it is unpacked with mmdebstrap)"
  exit 0
fi

# Under another name until it is whole.
rm -rf "$directory/nix.part"
mkdir -p "$directory/nix.part/bin"
mmdebstrap --quiet --variant=extract --mode=root --format=directory --include=nix-bin \
  --aptopt='APT::Install-Recommends "false"' "$release" "$directory/nix.part/root" >&2 || {
  missing "nix: mmdebstrap failed"
  exit 0
}
libraries=$(dirname "$(ls -d "$directory"/nix.part/root/usr/lib/*/libc.so.6)")
libraries=${libraries#"$directory/nix.part/"}
loader=$(cd "$directory/nix.part" && ls -d root/usr/lib*/ld-linux*.so.* | head -n 1)
for program in nix-instantiate nix-store; do
  cat >"$directory/nix.part/bin/$program" <<EOF
#!/bin/sh
# Its own libraries, not the machine's.
nix=$directory/nix
exec "\$nix/$loader" --argv0 $program --library-path "\$nix/$libraries" "\$nix/root/usr/bin/nix" "\$@"
EOF
  chmod 755 "$directory/nix.part/bin/$program"
done
mv "$directory/nix.part" "$directory/nix"
