/* ackermann.c: deep recursion, with tail calls between. */
#include <stdio.h>

#include "work.h"

__attribute__((noinline)) static long ackermann(long m, long n) {
    if (m == 0)
        return n + 1;
    return n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

int main(int argc, char **argv) {
    long sum = 0;
    for (long n = work_amount(argc, argv, 60); n; n--)
        sum += ackermann(3, 9);
    printf("%ld\n", sum);
    return 0;
}
