/* passing.c: a function is called very often, and the program itself says what it is given and returns, as a sum that a tool makes, too: see passing_tool.c. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { CALLS = 1000000 };

static uint64_t sum;

static void add(uint64_t value) {
    sum = (sum ^ value) * 0x9e3779b97f4a7c15u;
}

/* One load of the heap, and some of the stack. */
__attribute__((noinline)) uint64_t passed(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f,
                                          const uint64_t *heap) {
    volatile uint64_t on_stack[4] = {a, b, c, d};
    return on_stack[0] + on_stack[1] * on_stack[2] + on_stack[3] - e + f + *heap;
}

int main(void) {
    uint64_t *heap = malloc(sizeof(*heap));
    *heap = 5;
    for (uint64_t i = 0; i < CALLS; i++) {
        uint64_t given[6] = {i, i * 3, ~i, 7, i << 32, 1000 - i};
        for (int k = 0; k < 6; k++)
            add(given[k]);
        add(passed(given[0], given[1], given[2], given[3], given[4], given[5], heap));
    }
    printf("%d calls: %lx, %d loads\n", CALLS, (unsigned long)sum, CALLS);
    return 0;
}
