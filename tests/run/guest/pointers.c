/* pointers.c: calls through tables of functions, through pointers that change, and comparisons of such pointers. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef uint64_t Operation(uint64_t);

#define MAKE(n)                                                                                                        \
    static uint64_t op##n(uint64_t v) {                                                                                \
        return (v ^ (n * 0x9e3779b97f4a7c15ull)) * (2 * n + 1) + (v >> (n + 1));                                       \
    }
MAKE(0)
MAKE(1)
MAKE(2)
MAKE(3)
MAKE(4)
MAKE(5)
MAKE(6)
MAKE(7)
static Operation *const table[8] = {op0, op1, op2, op3, op4, op5, op6, op7};

static uint64_t walk(int rounds) {
    uint64_t v = 1;
    for (int i = 0; i < rounds; i++)
        v = table[v >> 7 & 7](v + (uint64_t)i);
    return v;
}

/* One call site, one target for long, then another. */
static uint64_t phases(int rounds) {
    uint64_t v = 3;
    Operation *volatile f = table[0];
    for (int i = 0; i < rounds; i++) {
        if (i % 1000 == 0)
            f = table[i / 1000 % 8];
        v = f(v);
    }
    return v;
}

static int compare(const void *a, const void *b) {
    return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b);
}

int main(void) {
    printf("%llx\n", (unsigned long long)walk(500000));
    printf("%llx\n", (unsigned long long)phases(200000));
    int numbers[1000];
    for (int i = 0; i < 1000; i++)
        numbers[i] = i * 7919 % 1009;
    qsort(numbers, 1000, sizeof(int), compare);
    int key = 500, *found = bsearch(&key, numbers, 1000, sizeof(int), compare);
    printf("%d %d %d\n", numbers[0], numbers[999], found ? *found : -1);
    printf("%d %d\n", table[0] == op0, table[3] == op4);
    return 0;
}
