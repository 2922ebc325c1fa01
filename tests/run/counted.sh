#!/bin/sh
# counted.sh LATHE COMPILER: loops whose number of rounds is settled before they begin are vectorised, with any step; a loop that waits is not.
lathe=$(realpath "$1")
compiler=$2
. "$(dirname "$0")/../check.sh"
export LATHE_CACHE="$dir/cache" LATHE_SERVER=none

# Called by pointers, so that each function is translated by itself.
cat >loops.c <<'C'
#include <stdint.h>
#include <stdio.h>
#define APART __attribute__((noinline, noclone, section(".text.apart")))
static uint64_t longs[2000];
static double doubles[2000];
APART void add(double *to, const double *from, const double *end, double value) {
    for (; from != end; from++, to++)
        *to += *from * value;
}
APART void spread(uint64_t *at, uint64_t *end) {
    for (; at != end; at++)
        *at = *at * 3 + 1;
}
APART int wait(const uint64_t *at, const uint64_t *end) {
    int count = 0;
    for (; *at != 7 && at != end; at++)
        count++;
    return count;
}
void (*volatile call_add)(double *, const double *, const double *, double) = add;
void (*volatile call_spread)(uint64_t *, uint64_t *) = spread;
int (*volatile call_wait)(const uint64_t *, const uint64_t *) = wait;
int main(void) {
    call_add(doubles, doubles + 1000, doubles + 2000, 1.5);
    call_spread(longs, longs + 2000);
    printf("%f %d\n", doubles[1], call_wait(longs, longs + 2000));
    return 0;
}
C
gcc -O1 -w loops.c -o native && ./native >expected || exit 1
$compiler -O1 -w -static -no-pie loops.c -o loops || exit 1
expect 0 "the loops" run --tier=opt --dump=opt ./loops
same out expected

base=$(readelf -lW loops | awk '$1 == "LOAD" { print $3; exit }')
# vectors FUNCTION: how many lines of its optimised code have vectors that are of no register.
vectors() {
    name=$(printf 'g_%x' $((0x$(nm loops | awk -v name="$1" '$3 == name { print $1 }') - base)))
    grep -c "<[248] x \(double\|i64\)>" "lathe-dump/$name.opt.ll"
}
holds [ "$(vectors add)" -gt 0 ]
holds [ "$(vectors spread)" -gt 0 ]
is "$(vectors wait)" = 0

finish
