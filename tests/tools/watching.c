/* watching.c: has functions for all events of instructions, some that are called and some that count, and says nothing. */
#include <lathe/tool.h>

static LatheCounter loads, blocks;
static volatile uint64_t last;

static void count_load(void) {
    lathe_count(&loads, 1);
}
static void count_block(void) {
    lathe_count(&blocks, 1);
}
static void look(uint64_t value) {
    last = value;
}

LATHE_HOOKS(LATHE_ON(LATHE_LOAD, count_load), LATHE_ON(LATHE_BLOCK, count_block),
            LATHE_ON(LATHE_STORE, look, {LATHE_ADDRESS}), LATHE_ON(LATHE_STORED, look, {LATHE_VALUE}),
            LATHE_ON(LATHE_BRANCH, look, {LATHE_TAKEN}), LATHE_ON(LATHE_CALL, look, {LATHE_TARGET}),
            LATHE_ON(LATHE_RETURN, look, {LATHE_TARGET}), LATHE_ON(LATHE_JUMP, look, {LATHE_TARGET}),
            LATHE_ON(LATHE_BLOCK, look, {LATHE_COUNT}));
