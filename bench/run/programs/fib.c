/* fib.c: the recursion that everybody measures. */
#include <stdio.h>

#include "work.h"

__attribute__((noinline, noclone, optimize("no-optimize-sibling-calls"))) static long fib(long n) {
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

int main(int argc, char **argv) {
    printf("%ld\n", fib(work_amount(argc, argv, 41)));
    return 0;
}
