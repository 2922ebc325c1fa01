#!/bin/sh
# functions.sh LATHE KEPT COUNTED SOURCE PASSING: functions of tools between a program's instructions: the program keeps all its registers, each function is called once for each
# instruction, and one that fails is said to be the tool's.
lathe=$1 kept=$2 counted=$3 here=$4 passing=$5
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LATHE_CACHE="$work/cache"
failed=0
unset LATHE_TOOL

fail() {
    echo "FAIL: $*"
    failed=1
}

[ "$("$kept")" = kept ] || fail "the program itself"
for tier in quick auto; do
    got=$("$lathe" run --tier=$tier --tool="$here/changing.c" -- "$kept" 2>&1)
    [ "$got" = kept ] || fail "tier $tier: $got"
done

# Functions that are called from the program's code are told the same as those for which that is left.
{ echo '#define SLOW'; cat "$here/hashing.c"; } > "$work/slow.c"
hash() {
    "$lathe" run --tier=${2:-quick} --tool="$1" -- "$counted" $what 2>&1
}
for what in 0 1 2 5; do
    expected=$(hash "$work/slow.c")
    [ "$(hash "$here/hashing.c")" = "$expected" ] || fail "counted $what: $(hash "$here/hashing.c") instead of $expected"
    for tier in opt auto; do
        [ "$(hash "$here/hashing.c" $tier)" = "$expected" ] || fail "counted $what, tier $tier: $(hash "$here/hashing.c" $tier) instead of $expected"
    done
    echo "$expected" | grep -q '^[1-9][0-9]* events' || fail "counted $what: $expected"
done
# Words of a thread's own that stay in registers from one function to the next are what they would be in memory.
for what in 0 1 2 4 5 6 d f l; do
    "$counted" $what > /dev/null 2>&1
    native=$?
    for tier in quick auto; do
        "$lathe" run --tier=$tier --tool="$here/own.c" -- "$counted" $what > "$work/out" 2>&1
        [ $? = $native ] || fail "own words, counted $what, tier $tier: it ends otherwise"
        grep -q '^own words of [1-9][0-9]* accesses agree$' "$work/out" && ! grep -q 'differ\|are not' "$work/out" || fail "own words, counted $what, tier $tier: $(cat "$work/out")"
    done
done
"$lathe" run --tier=quick --tool="$here/hashing.c" -- "$kept" 2>&1 | grep -qx fs || fail "no access by fs has been seen where it is"

# What a function of the program's is given and returns is what it says itself, and only what is not on the stack is loaded; also for functions of a tool that want the whole state, where the
# rest of the program is optimised.
{ echo '#define STATE'; cat "$here/passing_tool.c"; } > "$work/passing_state.c"
"$passing" > "$work/native" || fail "passing itself"
for tool in "$here/passing_tool.c" "$work/passing_state.c"; do
    for tier in quick opt auto; do
        "$lathe" run --tier=$tier --hot-after=2 --sample-every=500 --tool="$tool" -- "$passing" 2> "$work/told" | cmp - "$work/native" || fail "passing, $tool, tier $tier"
        cmp "$work/told" "$work/native" || fail "passing, $tool, tier $tier: $(cat "$work/told")"
    done
done

# A tool whose function does this at an instruction of a program, and the signal that it gets for it.
fails_in() {
    tier=$1 program=$2
    cat > "$work/fails.c" <<EOF
#include <lathe/tool.h>
uint64_t left = 100, *nowhere;
const uint64_t fixed[2] = {1};
$5
static void look(void) { if (!left--) { $3; } }
LATHE_HOOKS(LATHE_ON(LATHE_INSN, look));
EOF
    { "$lathe" run --tier="$tier" --tool="$work/fails.c" -- $program > "$work/out" 2>&1; echo "status $?" >> "$work/out"; } 2> /dev/null
    grep -q "the tool's function .* has failed: .*(signal $4)" "$work/out" && grep -q "status 127" "$work/out" ||
        fail "$3: $(cat "$work/out")"
}
fails() {
    fails_in quick "$kept" "$@"
}
fails '*nowhere = 1' 11
fails 'lathe_print("%s", (const char *)8)' 11
fails 'lathe_print("%lu\\n", endless(1))' 11 '__attribute__((noinline)) uint64_t endless(uint64_t n) { volatile uint64_t words[64]; words[n % 64] = n; return n ? endless(n + 1) + words[n % 64 ^ 1] : 0; }'
fails '__builtin_trap()' 4

# In optimised code, LLVM has put the function among the program's instructions: what the program itself cannot have done is told as the tool's, by its name if there is one only.
# A larger one is called.
fails_optimised() {
    fails_in opt "$counted 5" "$@"
    grep -q "function look has failed" "$work/out" || fail "$1: the function is not named: $(cat "$work/out")"
}
fails_optimised '*(volatile uint64_t *)(uintptr_t)&fixed[left & 1] = 1' 11
fails_optimised '__builtin_trap()' 4
fails_optimised '*nowhere = 1' 11
fails_optimised 'left = *(volatile uint64_t *)8' 11
fails_optimised '__atomic_fetch_add((uint64_t *)0x123456789000, 1, __ATOMIC_RELAXED)' 11
fails_optimised 'for (int i = 0; i < 8; i++) if (many[i] < 9) { many[i + 1] += many[i] * i; many[i] ^= many[i + 2] << i; } *nowhere = many[left & 7];' 11 'static volatile uint64_t many[16];'

[ $failed = 0 ] && echo ok
exit $failed
