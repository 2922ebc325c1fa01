#!/bin/sh
# callees.sh LATHE COMPILER: a hot loop gets optimised code that has the small functions which it calls in the place of the calls, and a small function that
# calls itself has its own body there.
lathe=$(realpath "$1")
compiler=$2
. "$(dirname "$0")/../check.sh"
export LATHE_CACHE="$dir/cache" LATHE_SERVER=none

cat >loop.c <<'C'
#include <stdio.h>
#define APART __attribute__((noinline, noclone))
APART unsigned inner(unsigned a, unsigned b) { return (a ^ b) * 2654435761u + (a >> 5); }
APART unsigned outer(unsigned a, unsigned b) { return inner(inner(a, b), a) + 1; }
APART unsigned hot(unsigned rounds) {
    unsigned h = 1;
    for (unsigned i = 0; i < rounds; i++)
        h = outer(h, i) + inner(h, 3);
    return h;
}
int main(void) {
    unsigned h = 0;
    for (int i = 0; i < 12; i++)
        h ^= hot(10000000 + i);
    printf("%u\n", h);
    return 0;
}
C
gcc -O2 -w loop.c -o native && ./native >expected || exit 1
$compiler -O2 -w -static -no-pie loop.c -o loop || exit 1

# name_of FUNCTION: what its code is called in objects: its distance from where the file is loaded.
name_of() {
    base=$(readelf -lW loop | awk '$1 == "LOAD" { print $3; exit }')
    printf 'g_%x' $((0x$(nm loop | awk -v name="$1" '$3 == name { print $1 }') - base))
}

# The undefined symbols of all objects that begin in the function `hot`, which is short.
calls_of_hot() {
    hot=$(name_of hot)
    for object in lathe-dump/g_*.o; do
        [ -e "$object" ] || continue
        at=$(basename "$object" .o)
        distance=$((0x${at#g_} - 0x${hot#g_}))
        [ $distance -ge 0 ] && [ $distance -lt 128 ] && echo object && nm -u "$object"
    done
}

# On a busy machine the server may have its answer after the program's end.
for _ in 1 2 3 4 5 6 7 8 9 10; do
    expect 0 "a loop that calls small functions" run --hot-after=2 --cache=none --dump=obj --stats=json ./loop
    same out expected
    calls_of_hot >calls
    [ -s calls ] && break
done
says calls '^object$'
for callee in inner outer; do
    says_not calls "$(name_of $callee)\$"
done

cat >fib.c <<'C'
#include <stdio.h>
__attribute__((noinline, noclone)) static unsigned fib(unsigned n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
int main(void) {
    printf("%u\n", fib(25));
    return 0;
}
C
gcc -O1 -w fib.c -o native && ./native >expected || exit 1
$compiler -O1 -w -static -no-pie fib.c -o loop || exit 1
expect 0 "a function that calls itself" run --tier=opt --cache=none --dump=lift ./loop
same out expected
# Two calls of 17 instructions or so: three levels of bodies leave two calls in each of the eight bodies of the last level, two levels in each of four.
calls=$(grep -c "call .*@$(name_of fib)(" "lathe-dump/$(name_of fib).lift.ll")
[ "$calls" -ge 8 ] || fail "fib calls itself in $calls places, not in 8 or more"
finish
