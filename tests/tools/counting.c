/* counting.c: counts instructions, and says nothing. */
#include <lathe/tool.h>

static LatheCounter instructions;

static void count(void) {
    lathe_count(&instructions, 1);
}

LATHE_HOOKS(LATHE_ON(LATHE_INSN, count));
