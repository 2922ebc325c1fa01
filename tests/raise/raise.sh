#!/bin/sh
# raise.sh LATHE SOURCE: the program compiled in several ways and raised prints what it prints natively, and ends as it does.
lathe=${1:?} source=${2:?}
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
failed=0

same() { # NAME: as `native` and `raised` have run
    if ! cmp -s "$dir/native.out" "$dir/raised.out"; then
        echo "FAIL: $1: the raised program differs:"
        diff "$dir/native.out" "$dir/raised.out" | head -n 10
        failed=1
    fi
}

execute() { # PROGRAM OUTPUT
    timeout 60 "$1" >"$2" 2>&1
    echo "status $?" >>"$2"
}

try() { # RAISE-OPTIONS COMPILER FLAGS…
    options=$1
    shift
    name="$* raised with $options"
    "$@" -o "$dir/native" "$source" -lm -pthread || { echo "FAIL: $name: does not compile"; failed=1; return; }
    execute "$dir/native" "$dir/native.out"
    if grep -qE '^status (1[3-9].|12[4-9]|2..)$' "$dir/native.out"; then
        echo "FAIL: $name: it does not work natively, either"
        failed=1
    fi
    "$lathe" raise $options "$dir/native" -o "$dir/raised" || { echo "FAIL: $name"; failed=1; return; }
    execute "$dir/raised" "$dir/raised.out"
    same "$name"
}

for cc in gcc clang-19; do
    command -v $cc >/dev/null || continue
    try -O2 $cc -O0 -w
    try -O2 $cc -O2 -w
done
try -O0 gcc -O2 -w
grep -q avx2 /proc/cpuinfo && try "-O3 --cpu=x86-64-v3" gcc -O3 -w
try -O3 gcc -Os -w -no-pie
[ $failed = 0 ] && echo "raised programs of $(basename "$source") do as the native ones"
exit $failed
