/* tabled.c: counts instructions in tables, by what is known when code is translated and by what is not. All sums must be those of a counter; `rows` prints a number that
 * is another one if a row has another total. */
#include <lathe/tool.h>

static LatheTable places, kinds, accesses, odd, blocks;
static LatheCounter accessed;

static void insn(uint64_t pc, uint64_t size, uint64_t opcode, uint64_t classes) {
    lathe_count_in(&places, pc, size, 0, 1);
    lathe_count_in(&kinds, opcode, classes, 7, 3);
}

/* Nobody knows this key before. */
static void look(uint64_t pc) {
    if (pc & 1)
        lathe_count_in(&odd, pc & 15, 0, 0, 1);
}

static void access(uint64_t bytes) {
    lathe_count_in(&accesses, bytes, 0, 0, 1);
    lathe_count(&accessed, 1);
}

static void block(uint64_t pc, uint64_t bytes, uint64_t insns) {
    lathe_count_in(&blocks, pc, bytes, insns, 1);
}

static void start(void) {
    lathe_option("rows");
}

static uint64_t sum_of(const LatheTable *table) {
    uint64_t sum = 0;
    for (LatheRow r = {0}; lathe_table_next(table, &r);)
        sum += r.total;
    return sum;
}

static uint64_t hash_of(const LatheTable *table, uint64_t start) {
    uint64_t sum = 0;
    for (LatheRow r = {0}; lathe_table_next(table, &r);) {
        uint64_t hash = start;
        for (int i = 0; i < LATHE_KEYS; i++)
            hash = (hash ^ r.key[i] ^ hash >> 31) * 0x9e3779b97f4a7c15;
        sum += (hash ^ hash >> 32) * r.total;
    }
    return sum;
}

static void report(void) {
    uint64_t insns = sum_of(&places), odd_insns = 0;
    for (LatheRow r = {0}; lathe_table_next(&places, &r);)
        odd_insns += r.key[0] & 1 ? r.total : 0;
    lathe_print("%lu instructions\n", insns);
    if (sum_of(&kinds) != 3 * insns || sum_of(&odd) != odd_insns || sum_of(&accesses) != lathe_total(&accessed))
        lathe_print("%lu %lu %lu %lu %lu\n", sum_of(&kinds), sum_of(&odd), odd_insns, sum_of(&accesses),
                    lathe_total(&accessed));
    if (lathe_option("rows"))
        lathe_print("rows %lx\n", hash_of(&places, 1) + hash_of(&kinds, 2) + hash_of(&odd, 3) + hash_of(&accesses, 4) +
                                      hash_of(&blocks, 5));
}

LATHE_HOOKS(LATHE_ON(LATHE_START, start),
            LATHE_ON(LATHE_INSN, insn, {LATHE_PC}, {LATHE_SIZE}, {LATHE_OPCODE}, {LATHE_CLASSES}),
            LATHE_ON(LATHE_INSN, look, {LATHE_PC}), LATHE_ON(LATHE_LOAD, access, {LATHE_BYTES}),
            LATHE_ON(LATHE_STORE, access, {LATHE_BYTES}),
            LATHE_ON(LATHE_BLOCK, block, {LATHE_PC}, {LATHE_BYTES}, {LATHE_COUNT}), LATHE_ON(LATHE_END, report));
