/* depth.c: how deep the stack is at calls, in bytes below where the thread began: a histogram. */
#include <lathe/tool.h>

static LatheCounter calls[64]; /* by the number of bits that the depth has */

static void call(uint64_t sp, uint64_t *own) {
    own[0] = own[0] < sp ? sp : own[0];
    uint64_t depth = own[0] - sp;
    lathe_count(&calls[depth ? 64 - __builtin_clzl(depth) : 0], 1);
}

static void report(void) {
    for (unsigned i = 0; i < 64; i++)
        if (lathe_total(&calls[i]))
            lathe_print("%12lu calls with less than %lu bytes\n", lathe_total(&calls[i]), 1ul << i);
}

LATHE_HOOKS(LATHE_ON(LATHE_CALL, call, {LATHE_SP}, {LATHE_THREAD_OWN}), LATHE_ON(LATHE_END, report));
