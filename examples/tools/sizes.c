/* sizes.c: how large the blocks are that a program asks malloc for: a table. */
#include <lathe/tool.h>

static LatheTable sizes;

static void allocates(uint64_t bytes) {
    lathe_count_in(&sizes, bytes, 0, 0, 1);
}

static int by_size(const void *a, const void *b) {
    uint64_t x = ((const LatheRow *)a)->key[0], y = ((const LatheRow *)b)->key[0];
    return (x > y) - (x < y);
}

static void report(void) {
    LatheVector rows = LATHE_VECTOR(LatheRow);
    for (LatheRow r = {0}; lathe_table_next(&sizes, &r);)
        *(LatheRow *)lathe_vector_add(&rows) = r;
    lathe_sort(rows.at, rows.count, rows.bytes, by_size);
    for (const LatheRow *r = rows.at; r < (const LatheRow *)rows.at + rows.count; r++)
        lathe_print("%8lu of %lu bytes\n", r->total, r->key[0]);
}

LATHE_HOOKS(LATHE_WHERE(LATHE_FUNCTION, allocates, ((LatheWhere){.module = "libc.so*", .symbol = "malloc"}),
                        {LATHE_ARGUMENT, 0}),
            LATHE_ON(LATHE_END, report));
