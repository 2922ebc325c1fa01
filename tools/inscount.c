/* inscount.c: how many instructions a program executes. */
#include <lathe/tool.h>

static LatheCounter instructions;

static void count(void) {
    lathe_count(&instructions, 1);
}

static void report(void) {
    lathe_print("%lu instructions\n", lathe_total(&instructions));
}

LATHE_HOOKS(LATHE_ON(LATHE_INSN, count), LATHE_ON(LATHE_END, report));
