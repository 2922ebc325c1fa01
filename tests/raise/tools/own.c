/* own.c: inscount for files whose names begin with `native`. */
#include <lathe/tool.h>

static LatheCounter instructions;

static void count(void) {
    lathe_count(&instructions, 1);
}

static void report(void) {
    lathe_print("%lu instructions\n", lathe_total(&instructions));
}

LATHE_HOOKS(LATHE_WHERE(LATHE_INSN, count, ((LatheWhere){.module = "native*"})), LATHE_ON(LATHE_END, report));
