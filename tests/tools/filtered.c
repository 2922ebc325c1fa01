/* filtered.c: counts instructions of the program's own file only: most code that runs has none that is counted. */
#include <lathe/tool.h>

static LatheCounter own, nowhere;

static void count_own(void) {
    lathe_count(&own, 1);
}

static void count_nowhere(void) {
    lathe_count(&nowhere, 1);
}

static void report(void) {
    lathe_print("%lu own, %lu nowhere\n", lathe_total(&own), lathe_total(&nowhere));
}

LATHE_HOOKS(LATHE_WHERE(LATHE_INSN, count_own, ((LatheWhere){.module = "true"})),
            LATHE_WHERE(LATHE_INSN, count_nowhere, ((LatheWhere){.symbol = "no_such_function"})),
            LATHE_ON(LATHE_END, report));
