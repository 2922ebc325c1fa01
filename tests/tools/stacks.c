/* stacks.c: prints the call stack at each call of a function, by the names of functions, up to main; and checks lathe_stack where nothing sensible is to be expected. */
#include <lathe/tool.h>

enum { MOST = 64 };

static bool ends(const char *name) {
    return !strcmp(name, "main") || !strcmp(name, "_start");
}

static void leaf(void) {
    uint64_t frames[MOST];
    LatheSymbol symbol;
    unsigned count = lathe_stack(frames, MOST);
    if (count > MOST || lathe_stack(frames, 0) || lathe_stack(frames, 1) != 1)
        lathe_fail("lathe_stack returns %u", count);
    for (unsigned i = 0; i < count; i++) {
        lathe_symbol(i ? frames[i] - 1 : frames[i], &symbol);
        lathe_print("%s%s", i ? " " : "", symbol.name);
        if (ends(symbol.name))
            break;
    }
    lathe_print("\n");
}

/* Stacks at all instructions of a function have the same callers. */
static uint64_t expected[MOST], expected_count, looked;

static void anywhere(void) {
    uint64_t frames[MOST];
    if (lathe_option("pointers")) /* which are wrong while a function begins and ends */
        return;
    unsigned count = lathe_stack(frames, MOST);
    for (unsigned i = 1; looked && i < count; i++)
        if (frames[i] != expected[i])
            lathe_print("frame %u is 0x%lx instead of 0x%lx, at 0x%lx\n", i, frames[i], expected[i], frames[0]);
    if (looked++ && count != expected_count)
        lathe_print("%u frames instead of %lu, at 0x%lx\n", count, expected_count, frames[0]);
    for (unsigned i = 0; i < count; i++)
        expected[i] = frames[i];
    expected_count = count;
}

/* Rubbish in all registers. */
static void rubbish(void) {
    uint64_t frames[MOST], kept[32];
    for (unsigned i = 0; i < 32; i++) {
        kept[i] = lathe_register(i);
        lathe_set_register(i, i * 0x123456789 << i);
    }
    lathe_stack(frames, MOST);
    for (unsigned i = 0; i < 32; i++)
        lathe_set_register(i, kept[i]);
}

static void start(void) {
    lathe_option("pointers");
}

static void end(void) {
    if (looked < 10 && !lathe_option("pointers"))
        lathe_print("%lu instructions of whole\n", looked);
}

LATHE_HOOKS(LATHE_WHERE(LATHE_FUNCTION, leaf, ((LatheWhere){.symbol = "leaf"})),
            LATHE_WHERE(LATHE_INSN, anywhere, ((LatheWhere){.symbol = "whole"})),
            LATHE_WHERE(LATHE_INSN, rubbish, ((LatheWhere){.symbol = "inside"})), LATHE_ON(LATHE_START, start),
            LATHE_ON(LATHE_END, end));
