#!/bin/bash
# fallback.sh LATHE: functions that cannot be raised stay as they are, and do as before: called directly, by address and from native code, calling raised functions in
# each of these ways, with what compilers know of each other's registers, and with exceptions through them.
lathe=$(realpath "${1:?}")
. "$(dirname "$0")/begin.sh"

# A compiler that knows which registers `leaf` leaves alone keeps values in others across its calls, on both sides.
cat >both.c <<'C'
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define AVX __attribute__((target("avx2"), noinline))
typedef double four __attribute__((vector_size(32)));
static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
__attribute__((noinline)) static int leaf(int x) { return x * 3 + 1; }
__attribute__((noinline)) static long pointed(long x) { return x * x - 2; }
AVX static int left_leaf(int x, four *v) { *v += (four){x, x, x, x}; return x - 5; }
AVX static long left(const double *v, int n, long (*f)(long), long *out) {
    four s = {0, 0, 0, 0}, t;
    long sum = 0;
    for (int i = 0; i < n; i += 4) {
        memcpy(&t, v + i, sizeof t);
        s += t;
        sum += leaf(i) * (i + 1) + leaf(i + n) + f(i) % 100;
    }
    int w[] = {9, leaf(2), 4, (int)s[3], 7};
    qsort(w, 5, sizeof *w, compare);
    for (int i = 0; i < 5; i++) sum = sum * 11 + w[i];
    *out = (long)(s[0] + s[1]);
    return sum + pointed(n);
}
AVX static double mean(int n, ...) {
    va_list l;
    four s = {0};
    va_start(l, n);
    for (int i = 0; i < n; i++) s[i & 3] += va_arg(l, double);
    va_end(l);
    return (s[0] + s[1] + s[2] + s[3]) / n;
}
struct big { long a[6]; };
AVX static long by_value(struct big b, four *v) { *v *= (four){2, 2, 2, 2}; return b.a[0] * 100 + b.a[5]; }
AVX static int by_avx(const void *a, const void *b) { four v = {*(const int *)a - *(const int *)b}; return (int)v[0]; }
__attribute__((noinline)) static long caller(int a, int b, int c, four *v) { return left_leaf(a, v) * 7 + b * left_leaf(c, v) + a - b - c; }
__attribute__((noinline)) static int jumps(int n, const char *text) {
    static const short places[] = {0, &&second - &&first, &&third - &&first, &&fourth - &&first};
    char copy[32];
    int sum = 0;
    snprintf(copy, sizeof copy, "%s-%d", text, n);
again:
    goto *(&&first + places[n & 3]);
first:
    return sum + leaf(copy[0]);
second:
    sum += strlen(copy), n--;
    goto again;
third:
    sum += pointed(n), n--;
    goto again;
fourth:
    sum += leaf(sum), n--;
    goto again;
}
long (*volatile by_address)(const double *, int, long (*)(long), long *) = left;
double (*volatile variable)(int, ...) = mean;
int (*volatile jumping)(int, const char *) = jumps;
int main(void) {
    double v[16];
    long out = 0;
    four w = {1, 2, 3, 4};
    struct big b = {{1, 2, 3, 4, 5, 6}};
    int list[] = {5, 3, 9, -4, 0};
    for (int i = 0; i < 16; i++) v[i] = i * 0.75;
    printf("%ld %ld\n", left(v, 16, pointed, &out), out);
    printf("%ld %ld\n", by_address(v, 8, pointed, &out), out);
    printf("%g %g\n", mean(3, 1.0, 2.0, 6.0), variable(4, 1.0, 2.0, 3.0, 5.0));
    printf("%ld %ld\n", by_value(b, &w), caller(3, 4, 5, &w));
    printf("%g %g %g %g\n", w[0], w[1], w[2], w[3]);
    qsort(list, 5, sizeof *list, by_avx);
    for (int i = 0; i < 5; i++) printf("%d ", list[i]);
    for (int i = 0; i < 8; i++) printf("%d %d ", jumps(i, "text"), jumping(i + 1, "other"));
    puts("");
    return 7;
}
C
# Only a table of distances leads to these functions.
cat >distances.c <<'C'
#include <stdio.h>
static int helper(int x) { return printf("helper %d\n", x), x + 1; }
__attribute__((used, noinline)) static int one(int x) { return helper(x) * 2; }
__attribute__((used, noinline)) static int two(int x) { return helper(x) * 3; }
extern const int table[2];
__asm__(".section .rodata\n.globl table\ntable: .long one - table, two - table\n.text");
int main(int argc, char **argv) {
    for (int i = 0; i < 4; i++)
        printf("%d %d\n", ((int (*)(int))((const char *)table + table[i & 1]))(i), helper(-i));
    return 0;
}
C
cat >throws.cpp <<'C'
#include <cstdio>
#include <stdexcept>
#include <string>
typedef double four __attribute__((vector_size(32)));
struct Guard { const char *name; ~Guard() { printf("end of %s\n", name); } };
__attribute__((noinline)) static void thrower(int n) { if (n > 2) throw std::runtime_error("n is " + std::to_string(n)); printf("%d\n", n); }
__attribute__((target("avx2"), noinline)) static int through(int n, four *v, void (*f)(int)) { Guard g{"through"}; *v += *v; f(n); return (int)(*v)[0]; }
__attribute__((target("avx2"), noinline)) static int catches(int n, four *v) {
    try { *v *= *v; thrower(n); return 1; } catch (const std::exception &e) { printf("caught inside: %s\n", e.what()); return (int)(*v)[1]; }
}
int main() {
    four v = {1, 2, 3, 4};
    for (int i = 1; i < 5; i++) {
        try { printf("%d\n", through(i, &v, thrower)); } catch (const std::exception &e) { printf("caught: %s\n", e.what()); }
        printf("%d\n", catches(i, &v));
    }
}
C
grep -q '\bavx2\b' /proc/cpuinfo || { echo "skip: no AVX2"; exit 77; }

check() { # COMPILER SOURCE FLAGS
    "$1" -w $3 "$2" -o program || exit 2
    "$lathe" raise program -o raised --report >report || { complain "$2 $3 is refused"; return; }
    ./program >native.out
    native=$?
    ./raised 2>&1 | head -c 100000 >raised.out
    [ "${PIPESTATUS[0]}" = $native ] && cmp -s native.out raised.out || complain "$2 $3 does something else: $(diff native.out raised.out | head -n 4)"
}
for level in -O0 -O2; do
    check gcc both.c $level
    grep -q ': the function stays as it was: an instruction' report || complain "the report of $level has no instruction"
    grep -q ': the function stays as it was: a computed jump' report || complain "the report of $level has no jump"
    check g++ throws.cpp $level
done
check gcc both.c '-O3 -s -no-pie'
check gcc distances.c -O1
strip program
"$lathe" raise program -o raised && ./raised | cmp -s - native.out || complain "distances.c, stripped, does something else"

# Without it, the program stops there.
gcc -w -O2 both.c -o program && "$lathe" raise --fallback=no program -o raised || complain "--fallback=no is refused"
./raised >/dev/null 2>message
[ $? = 132 ] && grep -q 'raised code stopped at 0x.*: an instruction that cannot be raised' message || complain "--fallback=no does not stop: $(cat message)"
[ $failed = 0 ] && echo "what cannot be raised stays as it was"
exit $failed
