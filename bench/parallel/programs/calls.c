/* calls.c: nothing shared: recursion, and calls through pointers. */
#include "team.h"

typedef uint64_t Function(uint64_t);

static uint64_t add(uint64_t x) {
    return x + 0x9e3779b97f4a7c15;
}

static uint64_t turn(uint64_t x) {
    return x << 13 | x >> 51;
}

static uint64_t fold(uint64_t x) {
    return x ^ x >> 7;
}

static Function *volatile const functions[] = {add, turn, fold, team_mix};

__attribute__((noinline)) static uint64_t fibonacci(uint64_t n) {
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static void work(Member *m) {
    enum { ITEMS = 6000, STEPS = 30000 };
    long end = team_first(m, m->index + 1, ITEMS);
    for (long i = team_first(m, m->index, ITEMS); i < end; i++) {
        uint64_t x = (uint64_t)i;
        for (int k = 0; k < STEPS; k++)
            x = functions[x >> 60 & 3](x);
        m->result += x + fibonacci(21);
    }
}

int main(int argc, char **argv) {
    printf("%lu\n", (unsigned long)team_run(team_size(argc, argv), work));
    return 0;
}
