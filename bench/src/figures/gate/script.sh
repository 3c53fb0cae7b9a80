set -euo pipefail
target=build
mkdir -p "$target" logs
git status --short > logs/status.txt
git log --oneline -n 5 | head -n 3
files=$(find src -name '*.rs' -type f)
for file in $files; do
    grep -n "fn main" "$file" || true
done
echo "looked at $files files"
if [[ -f Cargo.toml && ! -d "$target/debug" ]]; then
    cargo build --workspace --locked 2>&1 | tee logs/build.txt
elif [ -n "$files" ]; then
    cargo check --workspace
else
    echo "nothing to build"
fi
report() {
    printf '%s: %s\n' "$1" "$2"
    wc -l logs/build.txt | sort -n
}
report tests "$(cargo test --workspace --no-run 2>&1 | tail -n 1)"
while read -r line; do
    case "$line" in
        warning*) echo "warned: $line" ;;
        error*) echo "failed: $line" && exit 1 ;;
        *) true ;;
    esac
done < logs/build.txt
sed -n '1,10p' logs/build.txt | tr a-z A-Z | sort | uniq -c
cat <<'TEXT' > logs/notes.txt
What was found is in logs/.
Nothing was changed outside of it.
TEXT
diff -u logs/status.txt <(git status --short) || echo "the tree has changed"
(ls -la "$target" | head -n 20) 2>/dev/null
for size in 1 2 3; do
    echo "$size" >> logs/sizes.txt
done
cargo clippy --workspace --all-targets -- -D warnings && echo done
