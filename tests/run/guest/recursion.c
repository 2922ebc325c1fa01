/* recursion.c: guest calls that nest deeply: direct, mutual, and by pointer. */
#include <stdint.h>
#include <stdio.h>

static uint64_t depth_sum(uint64_t n) {
    volatile uint64_t here = n; /* kept across the call, so that it is no loop */
    return n == 0 ? 0 : depth_sum(n - 1) + here;
}

static int odd(unsigned n);

__attribute__((noinline)) static int even(unsigned n) {
    volatile unsigned here = n;
    return n == 0 ? 1 : odd(n - 1) + (int)(here - n);
}

__attribute__((noinline)) static int odd(unsigned n) {
    volatile unsigned here = n;
    return n == 0 ? 0 : even(n - 1) + (int)(here - n);
}

static unsigned ackermann(unsigned m, unsigned n) {
    if (m == 0)
        return n + 1;
    return n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

static unsigned fib(unsigned n) {
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

typedef uint64_t Step(void *self, uint64_t n);

static uint64_t step(void *self, uint64_t n) {
    Step *volatile again = (Step *)self;
    return n == 0 ? 1 : again(self, n - 1) * 3 + n;
}

int main(void) {
    for (int i = 0; i < 3; i++) /* the second time, all of the code exists */
        printf("sum %llu even %d pointer %llu\n", (unsigned long long)depth_sum(100000), even(90001),
               (unsigned long long)step((void *)step, 80000));
    printf("ackermann %u fib %u\n", ackermann(2, 2000), fib(25));
    return 0;
}
