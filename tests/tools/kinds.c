/* kinds.c: how many events there are of each kind, by functions that only count. The letters are those of tracing.c. */
#include <lathe/tool.h>

static LatheCounter insns, loads, stores, blocks, branches, jumps, gotos, calls, returns;

static void insn(void) {
    lathe_count(&insns, 1);
}
static void load(void) {
    lathe_count(&loads, 1);
}
static void store(void) {
    lathe_count(&stores, 1);
}
static void block(void) {
    lathe_count(&blocks, 1);
}
static void branch(void) {
    lathe_count(&branches, 1);
}
static void jump(void) {
    lathe_count(&jumps, 1);
}
static void go(void) {
    lathe_count(&gotos, 1);
}
static void call(void) {
    lathe_count(&calls, 1);
}
static void leave(void) {
    lathe_count(&returns, 1);
}

static void report(void) {
    lathe_print("B %lu\nC %lu\nG %lu\nI %lu\nJ %lu\nK %lu\nL %lu\nR %lu\nS %lu\n", lathe_total(&branches),
                lathe_total(&calls), lathe_total(&gotos), lathe_total(&insns), lathe_total(&jumps),
                lathe_total(&blocks), lathe_total(&loads), lathe_total(&returns), lathe_total(&stores));
}

LATHE_HOOKS(LATHE_ON(LATHE_INSN, insn), LATHE_ON(LATHE_LOAD, load), LATHE_ON(LATHE_STORE, store),
            LATHE_ON(LATHE_BLOCK, block), LATHE_ON(LATHE_BRANCH, branch), LATHE_ON(LATHE_JUMP, jump),
            LATHE_ON(LATHE_GOTO, go), LATHE_ON(LATHE_CALL, call), LATHE_ON(LATHE_RETURN, leave),
            LATHE_ON(LATHE_END, report));
