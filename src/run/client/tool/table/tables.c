/* tables.c: see tables.h. Everything here is protected by the arena's lock, so that nobody makes code, and no thread ends, meanwhile. */
#include "run/client/tool/table/tables.h"

#include "run/client/code/arena/arena.h"
#include "run/client/memory/array.h"
#include "run/client/memory/own.h"

enum { FIRST_SLOTS = 1024, ROWS_BYTES = TOOL_ROWS_MAX * sizeof(u64) };

typedef struct Row {
    u64 key[LATHE_KEYS];
    u32 table;        /* 0: it is a shared one, */
    u32 first, count; /* for these of `adds` */
} Row;

static struct {
    u32 tables;  /* how many there are, with number 0, which is none */
    Array rows;  /* Row, by number; that of number 0 is not used */
    Array adds;  /* RowAdd */
    Array spare; /* u32: shared rows that are not used any more */
    u32 *slots;  /* row numbers by a hash of table and keys, open addressing, at most half full; 0: free */
    u64 cap, taken;
    u64 *ended; /* for each row, what threads have counted that have ended */
    u64 *sums;  /* for each row, what lathe_table_next tells */
} all;

static u32 row_count(void) {
    return (u32)(all.rows.len / sizeof(Row));
}

static Row *row_no(u32 number) {
    return (Row *)all.rows.at + number;
}

bool rows_exist(void) {
    return all.tables > 1;
}

u64 rows_bytes(void) {
    return rows_exist() ? ROWS_BYTES : 0;
}

static void *new_pages(u64 bytes) {
    void *pages = sys_pages(bytes);
    if (!pages)
        die("no memory for a tool's tables");
    return pages;
}

static u32 new_row(Row row) {
    if (row_count() == TOOL_ROWS_MAX)
        lathe_fail_of(0, "its tables have more than %d rows", TOOL_ROWS_MAX);
    *(Row *)array_extend(&all.rows, sizeof(Row)) = row;
    return row_count() - 1;
}

void rows_reserve(u32 tables) {
    all.tables = tables;
    if (!rows_exist())
        return;
    all.ended = new_pages(ROWS_BYTES);
    all.sums = new_pages(ROWS_BYTES);
    new_row((Row){0});
}

/* ----------------------------------------------------------------------------------------------------------------- keys */

static bool is_row(const Row *row, u32 table, const u64 key[LATHE_KEYS]) {
    return row->table == table && !memcmp(row->key, key, sizeof(row->key));
}

/* The slot of a row, or the free one for it. */
static u32 *slot_for(u32 table, const u64 key[LATHE_KEYS]) {
    u64 hash = table;
    for (u32 i = 0; i < LATHE_KEYS; i++)
        hash = (hash ^ key[i] ^ hash >> 29) * 0x9e3779b97f4a7c15u;
    u64 i = hash >> 24;
    while (all.slots[i & (all.cap - 1)] && !is_row(row_no(all.slots[i & (all.cap - 1)]), table, key))
        i++;
    return &all.slots[i & (all.cap - 1)];
}

static void grow(void) {
    u32 *old = all.slots;
    u64 old_cap = all.cap;
    all.cap = old_cap ? 2 * old_cap : FIRST_SLOTS;
    all.slots = new_pages(page_up(all.cap * sizeof(u32)));
    for (u64 i = 0; i < old_cap; i++)
        if (old[i])
            *slot_for(row_no(old[i])->table, row_no(old[i])->key) = old[i];
    if (old)
        sys_pages_free(old, page_up(old_cap * sizeof(u32)));
}

u32 row_for(u32 table, const u64 key[LATHE_KEYS]) {
    if (all.taken * 2 >= all.cap)
        grow();
    u32 *slot = slot_for(table, key);
    if (!*slot) {
        Row row = {.table = table};
        memcpy(row.key, key, sizeof(row.key));
        *slot = new_row(row);
        all.taken++;
    }
    return *slot;
}

/* ---------------------------------------------------------------------------------------------------------- shared rows */

u32 row_share(void) {
    if (!all.spare.len)
        return new_row((Row){0});
    all.spare.len -= sizeof(u32);
    u32 row;
    memcpy(&row, all.spare.at + all.spare.len, sizeof(row));
    return row;
}

void row_unshare(u32 row) {
    row_no(row)->count = 0;
    memcpy(array_extend(&all.spare, sizeof(row)), &row, sizeof(row));
}

void row_set_shared(u32 row, const RowAdd *adds, u32 count) {
    row_no(row)->first = (u32)(all.adds.len / sizeof(RowAdd));
    row_no(row)->count = count;
    memcpy(array_extend(&all.adds, count * sizeof(RowAdd)), adds, count * sizeof(RowAdd));
}

/* So often were the additions made that a shared row stands for. */
static void share_out(u64 *sums, const Row *shared, u64 times) {
    const RowAdd *adds = (const RowAdd *)all.adds.at + shared->first;
    for (u32 i = 0; i < shared->count; i++)
        sums[adds[i].row] += times * (u64)(i64)adds[i].amount;
}

static u64 total_of(u32 row) {
    u64 sum = all.ended[row];
    for (const Thread *t = the.threads; t; t = t->next)
        sum += __atomic_load_n(&t->row[row], __ATOMIC_RELAXED);
    return sum;
}

void rows_unshare_all(void) {
    for (u32 i = 1; rows_exist() && i < row_count(); i++) {
        if (!row_no(i)->count)
            continue;
        share_out(all.ended, row_no(i), total_of(i));
        for (Thread *t = the.threads; t; t = t->next)
            t->row[i] = 0;
        all.ended[i] = 0;
        row_unshare(i);
    }
    array_free(&all.adds);
}

/* -------------------------------------------------------------------------------------------------------------- threads */

void rows_thread_ends(Thread *t) {
    for (u32 i = 0; rows_exist() && i < row_count(); i++)
        if (t->row[i]) {
            all.ended[i] += t->row[i];
            t->row[i] = 0;
        }
}

void rows_after_fork(Thread *t) {
    if (!rows_exist())
        return;
    memset(all.ended, 0, row_count() * sizeof(u64));
    memset(t->row, 0, row_count() * sizeof(u64));
}

/* ------------------------------------------------------------------------------------------------ functions of lathe/tool.h */

/* What is zero has not got a number when the tool was built. */
static u32 check_table(const LatheTable *table) {
    if (!table->number || table->number >= all.tables)
        lathe_fail_of(0, "a LatheTable is no global variable of the tool's");
    return (u32)table->number;
}

void lathe_count_in(LatheTable *table, uint64_t key, uint64_t key2, uint64_t key3, long amount) {
    const u64 keys[LATHE_KEYS] = {key, key2, key3};
    u32 number = check_table(table);
    arena_lock();
    u32 row = row_for(number, keys);
    arena_unlock();
    thread_self()->row[row] += (u64)amount;
}

static void sum_up(void) {
    for (u32 i = 1; i < row_count(); i++)
        all.sums[i] = row_no(i)->count ? 0 : total_of(i);
    for (u32 i = 1; i < row_count(); i++)
        if (row_no(i)->count)
            share_out(all.sums, row_no(i), total_of(i));
}

static bool find_next(u32 table, LatheRow *row) {
    for (u64 i = row->index + 1; i < row_count(); i++)
        if (row_no((u32)i)->table == table && all.sums[i]) {
            *row = (LatheRow){.total = all.sums[i], .index = i};
            memcpy(row->key, row_no((u32)i)->key, sizeof(row->key));
            return true;
        }
    return false;
}

bool lathe_table_next(const LatheTable *table, LatheRow *row) {
    u32 number = check_table(table);
    arena_lock();
    if (!row->index)
        sum_up();
    bool found = find_next(number, row);
    arena_unlock();
    return found;
}
