#!/bin/sh
# callees.sh LATHE COMPILER: a hot loop gets optimised code that has the small functions which it calls in the place of the calls.
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
finish
