/* calling.c: counts instructions by a function that Lathe cannot put between them. */
#include <lathe/tool.h>

static LatheCounter instructions;
static volatile uint64_t last;

static void look(uint64_t pc, uint64_t size, uint64_t one) {
    last = pc + size;
    lathe_count(&instructions, (long)one);
}

static void report(void) {
    lathe_print("%lu instructions\n", lathe_total(&instructions));
}

LATHE_HOOKS(LATHE_ON(LATHE_INSN, look, {LATHE_PC}, {LATHE_SIZE}, {LATHE_CONSTANT, 1}), LATHE_ON(LATHE_END, report));
