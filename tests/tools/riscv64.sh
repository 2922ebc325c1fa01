#!/bin/sh
# riscv64.sh LATHE COUNTED QEMU SOURCE: a riscv64 program has as many instructions as qemu executes, one at a time.
lathe=$1 counted=$2 qemu=$3 here=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LATHE_CACHE="$work/cache"
failed=0
for what in 0 1 2; do
    "$qemu" -singlestep -d exec,nochain -D "$work/log" "$counted" $what
    status=$?
    expected="$(grep -c '^Trace' "$work/log") instructions, status $status"
    for tool in inscount "$here/calling.c"; do
        got=$("$lathe" run --tool="$tool" -- "$counted" $what 2>&1)
        got="$got, status $?"
        [ "$got" = "$expected" ] && continue
        echo "FAIL: $what, $tool: '$got' instead of '$expected'"
        failed=1
    done
done
[ $failed = 0 ] && echo ok
exit $failed
