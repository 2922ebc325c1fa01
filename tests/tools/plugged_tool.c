/* plugged_tool.c: what plugged.c calls in the program, beside a hook of its own: blocks are counted by the plugin, instructions by both. */
#include <lathe/tool.h>

static LatheCounter blocks, insns;
static uint64_t calls;
void *taken;

void block(uint64_t pc, uint32_t count) {
    lathe_count(&blocks, 1);
    lathe_count(&insns, count);
    (void)pc;
}

void take(void *what) {
    taken = what;
}

static void insn(uint64_t pc) {
    calls += pc != 0;
}

static void end(void) {
    lathe_print("%lu blocks, %lu instructions, %lu calls\n", lathe_total(&blocks), lathe_total(&insns), calls);
}

LATHE_HOOKS(LATHE_ON(LATHE_INSN, insn, {LATHE_PC}), LATHE_ON(LATHE_END, end));
