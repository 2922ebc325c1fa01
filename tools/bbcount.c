/* bbcount.c: how many blocks a program executes, how many different ones these are, and which ones are executed most often.
 *
 *     $ lathe run --tool=bbcount,top=2 -- ./program
 *     40212 blocks, of which 1613 are different
 *          times  share  instructions  block
 *           6213  15.4%             4  0x401136 main+0x10 (/home/me/program)
 *           2917   7.2%             5  0x7f5bd95f8a30 strcmp+0x20 (/usr/lib/x86_64-linux-gnu/libc.so.6)
 *
 * A block is what lathe/tool.h says it is. Options: top=N: so many blocks are listed (20); out=FILE: where to, %p in it being the number of the
 * process (standard error). */
#include <lathe/tool.h>

typedef struct Block {
    uint64_t pc, insns, times;
} Block;

static LatheTable table;

static void block(uint64_t pc, uint64_t insns) {
    lathe_count_in(&table, pc, insns, 0, 1);
}

static void start(void) {
    lathe_option("out");
    lathe_option_number("top", 0);
}

static int by_times(const void *a, const void *b) {
    const Block *x = a, *y = b;
    if (x->times != y->times)
        return x->times > y->times ? -1 : 1;
    return x->pc < y->pc ? -1 : x->pc > y->pc;
}

static void list(LatheFile *out, const Block *b, uint64_t all) {
    LatheSymbol symbol;
    uint64_t share = b->times * 1000 / all;
    lathe_fprint(out, "%12lu %3lu.%lu%% %13lu  0x%lx", b->times, share / 10, share % 10, b->insns, b->pc);
    if (lathe_symbol(b->pc, &symbol))
        lathe_fprint(out, " %s+0x%lx", symbol.name, symbol.offset);
    lathe_fprint(out, " (%s)\n", symbol.file);
}

/* Makes a list of all blocks, those first that were executed most often. Returns how often blocks were executed. */
static uint64_t find_blocks(LatheVector *blocks) {
    uint64_t all = 0;
    for (LatheRow r = {0}; lathe_table_next(&table, &r); all += r.total)
        *(Block *)lathe_vector_add(blocks) = (Block){r.key[0], r.key[1], r.total};
    lathe_sort(blocks->at, blocks->count, blocks->bytes, by_times);
    return all;
}

static void report(void) {
    LatheVector blocks = LATHE_VECTOR(Block);
    uint64_t all = find_blocks(&blocks), top = lathe_option_number("top", 20);
    const char *name = lathe_option("out");
    LatheFile *out = lathe_open(name ? name : "-");
    lathe_fprint(out, "%lu blocks, of which %lu are different\n", all, blocks.count);
    lathe_fprint(out, "%12s %6s %13s  %s\n", "times", "share", "instructions", "block");
    for (uint64_t i = 0; i < blocks.count && i < top; i++)
        list(out, (const Block *)blocks.at + i, all);
    lathe_vector_clear(&blocks);
    lathe_close(out);
}

LATHE_HOOKS(LATHE_ON(LATHE_START, start), LATHE_ON(LATHE_BLOCK, block, {LATHE_PC}, {LATHE_COUNT}),
            LATHE_ON(LATHE_END, report));
