/* changing.c: functions of all kinds before each instruction: one that is copied, one with a way that is rare and uses many registers, one that uses the
 * stack, and one that calls functions of lathe/tool.h. Each counts, and all have to have counted the same in the end. */
#include <lathe/tool.h>

enum { COPIED, RARE, DEEP, CALLING, KINDS };

static LatheCounter instructions;
static uint64_t sink;

static void count(void) {
    lathe_count(&instructions, 1);
}

static void copied(uint64_t *own) {
    own[COPIED]++;
}

__attribute__((noinline)) static uint64_t mix(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f) {
    return a * 3 + (b ^ c) * 5 + (d - e) * f + (a ^ f) * (b + e);
}

static void rare(uint64_t pc, uint64_t size, uint64_t *own) {
    if (++own[RARE] % 64)
        return;
    sink += mix(pc, size, own[RARE], pc ^ size, pc + size, ~pc);
    lathe_nanoseconds();
}

static void deep(uint64_t *own, uint64_t five, uint64_t tid) {
    volatile uint64_t words[8];
    for (int i = 0; i < 8; i++)
        words[i] = own[DEEP] + five * tid;
    own[DEEP] += words[3] == words[4];
}

/* The C function that copies goes by the flag of direction. */
static void calling(uint64_t pc, uint64_t *own) {
    static uint64_t copy[4];
    __builtin_memcpy(copy, own, 24 + pc % 8);
    own[CALLING] += copy[COPIED] == own[COPIED] && copy[DEEP] == own[DEEP];
}

static void report(const uint64_t *own) {
    uint64_t all = lathe_total(&instructions);
    for (int i = 0; i < KINDS; i++)
        if (own[i] != all)
            lathe_print("function %d was called %lu times at %lu instructions\n", i, own[i], all);
    if (all < 100000)
        lathe_print("only %lu instructions\n", all);
}

LATHE_HOOKS(LATHE_ON(LATHE_INSN, count), LATHE_ON(LATHE_INSN, copied, {LATHE_THREAD_OWN}),
            LATHE_ON(LATHE_INSN, rare, {LATHE_PC}, {LATHE_SIZE}, {LATHE_THREAD_OWN}),
            LATHE_ON(LATHE_INSN, deep, {LATHE_THREAD_OWN}, {LATHE_CONSTANT, 5}, {LATHE_THREAD_ID}),
            LATHE_ON(LATHE_INSN, calling, {LATHE_PC}, {LATHE_THREAD_OWN}),
            LATHE_ON(LATHE_END, report, {LATHE_THREAD_OWN}));
