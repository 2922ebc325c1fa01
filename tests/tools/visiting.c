/* visiting.c: is called before each instruction, and says nothing. */
#include <lathe/tool.h>

static volatile uint64_t last;

static void look(uint64_t pc, uint64_t size) {
    last = pc + size;
}

LATHE_HOOKS(LATHE_ON(LATHE_INSN, look, {LATHE_PC}, {LATHE_SIZE}));
