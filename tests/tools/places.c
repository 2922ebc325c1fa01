/* places.c: hooks for certain places only: counts what fib executes, pushes, branches of the program itself, jumps to other functions, and says which functions begin, and which files are there. */
#include <lathe/tool.h>

static LatheCounter in_fib, pushes, branches, nowhere, left;

static void count_fib(void) {
    lathe_count(&in_fib, 1);
}
static void count_push(void) {
    lathe_count(&pushes, 1);
}
static void count_branch(void) {
    lathe_count(&branches, 1);
}
static void count_nowhere(void) {
    lathe_count(&nowhere, 1);
}

static void count_left(void) {
    lathe_count(&left, 1);
}

/* The words of a site are its own: the second time, it is known. */
static void begin(uint64_t pc, uint64_t *words, uint64_t opcode) {
    LatheSymbol symbol;
    if (words[0]++ || !lathe_symbol(pc, &symbol))
        return;
    lathe_print("%s begins with %s\n", symbol.name, lathe_opcode_name(opcode));
}

static void module(uint64_t address, uint64_t bytes, const char *name) {
    lathe_print("%s%s\n", strrchr(name, '/') + 1, address && bytes ? "" : " is nowhere");
}

static void report(void) {
    lathe_print("%lu %lu %lu %lu %lu\n", lathe_total(&in_fib), lathe_total(&pushes), lathe_total(&branches),
                lathe_total(&nowhere), lathe_total(&left));
}

LATHE_HOOKS(LATHE_WHERE(LATHE_INSN, count_fib, ((LatheWhere){.symbol = "fib"})),
            LATHE_WHERE(LATHE_INSN, count_push, ((LatheWhere){.opcode = "push"})),
            LATHE_WHERE(LATHE_INSN, count_branch, ((LatheWhere){.module = "count*", .classes = LATHE_CLASS_BRANCH})),
            LATHE_WHERE(LATHE_INSN, count_nowhere, ((LatheWhere){.from = 1, .to = 4096})),
            LATHE_WHERE(LATHE_INSN, count_nowhere, ((LatheWhere){.module = "counte"})),
            LATHE_WHERE(LATHE_GOTO, count_left, ((LatheWhere){.leaves = true})),
            LATHE_WHERE(LATHE_BRANCH, count_left, ((LatheWhere){.leaves = true})),
            LATHE_ON(LATHE_FUNCTION, begin, {LATHE_PC}, {LATHE_SITE}, {LATHE_OPCODE}),
            LATHE_ON(LATHE_MODULE, module, {LATHE_ADDRESS}, {LATHE_BYTES}, {LATHE_NAME}), LATHE_ON(LATHE_END, report));
