/* distance.c: how many instructions of the same thread lie between a store to a word of memory and the next load of it: a histogram. */
#include <lathe/tool.h>

static LatheMap stored =
    LATHE_MAP(uint64_t);       /* by the number of a word in memory: when it was stored, and by which thread */
static LatheCounter loads[64]; /* by the number of bits that the distance has */

static void insn(uint64_t *own) {
    own[0]++;
}

static void store(uint64_t address, uint64_t thread, const uint64_t *own) {
    *(uint64_t *)lathe_map_at(&stored, address / 8) = own[0] << 24 | (thread & 0xffffff);
}

static void load(uint64_t address, uint64_t thread, const uint64_t *own) {
    const uint64_t *when = lathe_map_find(&stored, address / 8);
    if (when && (*when & 0xffffff) == (thread & 0xffffff))
        lathe_count(&loads[64 - __builtin_clzl((own[0] - (*when >> 24)) | 1)], 1);
}

static void report(void) {
    for (unsigned i = 0; i < 64; i++)
        if (lathe_total(&loads[i]))
            lathe_print("%12lu loads less than %lu instructions behind a store\n", lathe_total(&loads[i]), 1ul << i);
}

LATHE_HOOKS(LATHE_ON(LATHE_INSN, insn, {LATHE_THREAD_OWN}),
            LATHE_ON(LATHE_LOAD, load, {LATHE_ADDRESS}, {LATHE_THREAD_ID}, {LATHE_THREAD_OWN}),
            LATHE_ON(LATHE_STORE, store, {LATHE_ADDRESS}, {LATHE_THREAD_ID}, {LATHE_THREAD_OWN}),
            LATHE_ON(LATHE_END, report));
