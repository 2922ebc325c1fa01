# begin.sh: what tests of raise begin with: a folder of their own, which goes when they end, and `complain`, which says what is wrong and sets `failed`.
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 2
failed=0

complain() {
    echo "FAIL: $*"
    failed=1
}
