/* atomics.c: shared counters, added to and compared and exchanged, with some work of one's own between. */
#include "team.h"

enum { COUNTERS = 64 };

static uint64_t sums[COUNTERS], greatest;

static void work(Member *m) {
    enum { ITEMS = 25000000, STEPS = 12 };
    long end = team_first(m, m->index + 1, ITEMS);
    for (long i = team_first(m, m->index, ITEMS); i < end; i++) {
        uint64_t x = (uint64_t)i;
        for (int k = 0; k < STEPS; k++)
            x = team_mix(x);
        __atomic_fetch_add(&sums[x % COUNTERS], x, __ATOMIC_SEQ_CST);
        uint64_t seen = __atomic_load_n(&greatest, __ATOMIC_RELAXED);
        while (seen < x && !__atomic_compare_exchange_n(&greatest, &seen, x, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
            continue;
    }
}

int main(int argc, char **argv) {
    uint64_t all = 0;
    team_run(team_size(argc, argv), work);
    for (int i = 0; i < COUNTERS; i++)
        all = team_mix(all + sums[i]);
    printf("%lu %lu\n", (unsigned long)all, (unsigned long)greatest);
    return 0;
}
