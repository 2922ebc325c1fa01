#!/bin/sh
# other.sh LATHE COUNTED PROFILED QEMU SOURCE ALIGNED: a program of another machine has as many instructions as qemu executes, one at a time, by each of the tools that count them; accesses that
# are not aligned are found.
lathe=$1 counted=$2 profiled=$3 qemu=$4 here=$5 aligned=$6
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LATHE_CACHE="$work/cache"
failed=0

# check TIER PROGRAM ARGUMENTS
check() {
    tier=$1
    shift
    "$qemu" -singlestep -d exec,nochain -D "$work/log" "$@"
    status=$?
    expected="$(grep -c '^Trace' "$work/log") instructions, status $status"
    for tool in inscount "$here/calling.c"; do
        got=$("$lathe" run --tier="$tier" --tool="$tool" -- "$@" 2>&1)
        got="$got, status $?"
        [ "$got" = "$expected" ] && continue
        echo "FAIL: $*, $tool: '$got' instead of '$expected'"
        failed=1
    done
    expected=$(grep -c '^Trace' "$work/log")
    mix=$("$lathe" run --tier="$tier" --tool=opcodemix -- "$@" 2>&1 | sed -n '1s/ instructions//p')
    blocks=$("$lathe" run --tier="$tier" --tool=bbcount,top=100000 -- "$@" 2>&1 | awk 'NR > 2 { sum += $1 * $3 } END { print sum }')
    [ "$mix" = "$expected" ] && [ "$blocks" = "$expected" ] && return
    echo "FAIL: $*: opcodemix has $mix instructions, the blocks of bbcount have $blocks instead of $expected"
    failed=1
}

for what in 0 1 2; do
    check auto "$counted" $what
done
# riscv64's calls are far ones, of two instructions each, which the decoder makes one of.
for tier in quick opt auto; do
    check $tier "$profiled"
done

# The events of all kinds of code are the same; a far call is two instructions in each.
for what in "$counted 0" "$counted 1" "$profiled"; do
    for tier in quick opt; do
        setarch -R "$lathe" run --tier=$tier --tool="$here/tracing.c" -- $what > "$work/events.$tier" 2>&1
    done
    cmp -s "$work/events.quick" "$work/events.opt" || {
        echo "FAIL: $what: quick and optimised code have different events:"
        diff "$work/events.quick" "$work/events.opt" | head -n 5
        failed=1
    }
    [ "$(grep -c '^I' "$work/events.opt")" -gt 1000 ] || { echo "FAIL: $what: few events"; failed=1; }
done

"$lathe" run --tool=align -- "$aligned" 2> "$work/align"
"$lathe" run --tool=memtrace,text,out="$work/trace" -- "$aligned"
loads=$(grep -c ' load ' "$work/trace") stores=$(grep -c ' store ' "$work/trace")
expected="250 of $loads loads and 100 of $stores stores are not aligned"
[ "$(head -n 1 "$work/align")" = "$expected" ] || { echo "FAIL: align: '$(cat "$work/align")' instead of '$expected'"; failed=1; }
[ "$loads" -ge 400 ] && [ "$stores" -ge 200 ] || { echo "FAIL: memtrace has $loads loads and $stores stores"; failed=1; }
places=$(awk 'NR > 2 { split($5, name, "+"); print $1, $2, $3, name[1] }' "$work/align" | sort | tr '\n' ',')
[ "$places" = "100 4 store stores,100 8 load loads,100 8 load loads,50 2 load moving," ] || { echo "FAIL: align: $places"; failed=1; }
[ $failed = 0 ] && echo ok
exit $failed
