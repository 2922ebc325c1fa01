#!/bin/sh
# tables.sh LATHE COUNTED STEPS SOURCE: tables of counters say what the CPU counts, in all code, with faults, signals, code that changes, threads and fork.
lathe=$1 counted=$2 steps=$3 here=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LATHE_CACHE="$work/cache"
failed=0

fail() {
    echo "FAIL: $*"
    failed=1
}

watch() {
    { "$lathe" run "$@" 2>&1; echo "status $?"; } 2>/dev/null | sed "/^Segmentation fault/d"
}

# The functions without conditions are in no tier called.
"$lathe" tool "$here/tabled.c" > "$work/plan" 2>&1 || fail "lathe tool: $(cat "$work/plan")"
[ "$(grep -c 'only counts' "$work/plan")" = 4 ] || fail "lathe tool: $(cat "$work/plan")"

# The CPU's own count, step by step; alone, so that nothing leaves quick code at each instruction, and with a function that is called.
sed '/LATHE_ON(LATHE_INSN, look/s/LATHE_ON(LATHE_INSN, look, {LATHE_PC}), //; s/ || sum_of(&odd) != odd_insns//; s/^static void look/static __attribute__((unused)) void look/' "$here/tabled.c" > "$work/alone.c"
for what in 0 1 2 3 4 5 6 7; do
    expected=$("$steps" "$counted" $what 2>&1; echo "status $?")
    for tool in "$work/alone.c" "$here/tabled.c"; do
        got=$(watch --tier=quick --tool="$tool" -- "$counted" $what)
        [ "$got" = "$expected" ] || fail "counted $what, $tool: '$got' instead of '$expected'"
    done
done

# All code has the same rows, first and from the cache.
for what in 0 1 2 3 4 5 6; do
    for tool in "$work/alone.c" "$here/tabled.c"; do
        expected=$(watch --tier=quick --tool="$tool,rows" -- "$counted" $what)
        case $expected in
        *rows*) ;;
        *) fail "counted $what, $tool: $expected" ;;
        esac
        for how in --tier=opt --tier=auto --tier=opt --tier=auto --no-tool-opt --no-tool-opt=merge --no-tool-opt=counter; do
            got=$(watch $how --tool="$tool,rows" -- "$counted" $what)
            [ "$got" = "$expected" ] || fail "counted $what, $tool, $how: '$got' instead of '$expected'"
        done
    done
done

# Threads that have ended, and those that have not; a copy of the program begins with empty tables.
for what in t1 t3 t8 f e; do
    for tier in quick auto; do
        expected=$(watch --tier=$tier --tool=inscount -- "$counted" $what)
        got=$(watch --tier=$tier --tool="$work/alone.c" -- "$counted" $what)
        [ "$got" = "$expected" ] || fail "counted $what, tier $tier: '$got' instead of '$expected'"
    done
done

exit $failed
