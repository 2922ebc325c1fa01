/* passing_tool.c: what the function `passed` of passing.c is given and returns, and how often it loads what is not on the stack. With STATE, the arguments come from
 * functions that want the program's whole state. */
#include <lathe/tool.h>

static uint64_t sum, calls, loads;

static void add(uint64_t value) {
    sum = (sum ^ value) * 0x9e3779b97f4a7c15u;
}

#define HERE ((LatheWhere){.symbol = "passed"})

#ifdef STATE
static void begins(void) {
    calls++;
    for (unsigned i = 0; i < 6; i++)
        add(lathe_arg(i));
}
#define BEGINS LATHE_WHERE(LATHE_FUNCTION, begins, HERE)
#else
static void begins(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f) {
    calls++;
    add(a), add(b), add(c), add(d), add(e), add(f);
}
#define BEGINS                                                                                                         \
    LATHE_WHERE(LATHE_FUNCTION, begins, HERE, {LATHE_ARGUMENT, 0}, {LATHE_ARGUMENT, 1}, {LATHE_ARGUMENT, 2},           \
                {LATHE_ARGUMENT, 3}, {LATHE_ARGUMENT, 4}, {LATHE_ARGUMENT, 5})
#endif

static void loaded(void) {
    loads++;
}

static void report(void) {
    lathe_print("%lu calls: %lx, %lu loads\n", calls, sum, loads);
}

LATHE_HOOKS(BEGINS, LATHE_WHERE(LATHE_RETURN, add, HERE, {LATHE_RESULT}),
            LATHE_WHERE(LATHE_LOAD, loaded, ((LatheWhere){.symbol = "passed", .not_stack = true})),
            LATHE_ON(LATHE_END, report));
