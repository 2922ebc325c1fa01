/* asked.c: what a thread has counted (LATHE_COUNTED), at each block, call and return, against what is added up in the thread's own words. Prints "right". */
#include <lathe/tool.h>

typedef struct Own {
    uint64_t sum;
} Own;

static LatheCounter executed, instructions;
static uint64_t wrong, calls;

static void count_block(uint64_t count) {
    lathe_count(&executed, (long)count);
}

static void count_insn(void) {
    lathe_count(&instructions, 1);
}

static __attribute__((noinline)) void note_wrong(void) {
    __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
}

static void look(const Own *own, const uint64_t *counted) {
    if (lathe_counted(counted) != own->sum)
        note_wrong();
}

static void block(Own *own, uint64_t count, const uint64_t *counted) {
    own->sum += count;
    look(own, counted);
}

static void call(const Own *own, const uint64_t *counted) {
    __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
    look(own, counted);
}

/* The child of a fork has counted nothing yet. */
static void start(Own *own) {
    own->sum = 0;
}

static void end(void) {
    uint64_t all = lathe_total(&executed), one_by_one = lathe_total(&instructions);
    if (wrong || !calls || all != one_by_one)
        lathe_print("%lu of %lu are wrong, %lu instructions instead of %lu\n", wrong, calls, all, one_by_one);
    else
        lathe_print("right\n");
}

#define COUNTED                                                                                                        \
    { LATHE_COUNTED, (long)&executed }

LATHE_HOOKS(LATHE_ON(LATHE_START, start, {LATHE_THREAD_OWN}), LATHE_ON(LATHE_BLOCK, count_block, {LATHE_COUNT}),
            LATHE_ON(LATHE_INSN, count_insn), LATHE_ON(LATHE_BLOCK, block, {LATHE_THREAD_OWN}, {LATHE_COUNT}, COUNTED),
            LATHE_ON(LATHE_CALL, call, {LATHE_THREAD_OWN}, COUNTED),
            LATHE_ON(LATHE_RETURN, look, {LATHE_THREAD_OWN}, COUNTED), LATHE_ON(LATHE_END, end));
