/* thrice.c: counts instructions in three ways: by additions of many at once, by rows of a table, and by a function that Lathe cannot put between them. Threads may still run when the program
 * ends: then it looks again, until none has gone on meanwhile. */
#include <lathe/tool.h>

static LatheCounter added, called;
static LatheTable rows;
static volatile uint64_t last;

static void add(void) {
    lathe_count(&added, 1);
}

static void add_to_row(uint64_t opcode) {
    lathe_count_in(&rows, opcode, 0, 0, 1);
}

static void call(uint64_t pc, uint64_t one) {
    last = pc;
    lathe_count(&called, (long)one);
}

static uint64_t sum_of_rows(void) {
    uint64_t sum = 0;
    for (LatheRow r = {0}; lathe_table_next(&rows, &r);)
        sum += r.total;
    return sum;
}

static void report(void) {
    enum { TRIES = 100000 };
    uint64_t first, in_rows, calls, tries = 0;
    do {
        first = lathe_total(&added);
        in_rows = sum_of_rows();
        calls = lathe_total(&called);
    } while (lathe_total(&added) != first && ++tries < TRIES);
    lathe_print("instructions: %lu %lu %lu\n", first, in_rows, calls);
}

LATHE_HOOKS(LATHE_ON(LATHE_INSN, add), LATHE_ON(LATHE_INSN, add_to_row, {LATHE_OPCODE}),
            LATHE_ON(LATHE_INSN, call, {LATHE_PC}, {LATHE_CONSTANT, 1}), LATHE_ON(LATHE_END, report));
