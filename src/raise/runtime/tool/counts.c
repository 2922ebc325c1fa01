/* counts.c: counters and tables of lathe/tool.h in a raised program.
 *
 * Raised code adds to words that all threads share: LATHE_COUNTERs by their numbers, and rows of tables whose keys were known when the program was raised. Rows with
 * other keys are made here, behind those. */
#include "raise/runtime/tool/runtime.h"

enum { FIRST_SLOTS = 1024, CHUNK_ROWS = 1024, CHUNKS = 4096 };

static const ToolFacts *const facts = &lathe_tool_facts;

/* ------------------------------------------------------------------------------------------------------------- counters */

/* What is zero has not got a number when the tool was built. */
static u64 check_counter(const LatheCounter *counter) {
    if (!counter->number || counter->number >= facts->counter_count)
        lathe_fail_of(0, "a LatheCounter is no global variable of the tool's: it is on the stack, in memory of "
                         "lathe_alloc, or was overwritten");
    return counter->number;
}

void lathe_count(LatheCounter *counter, long amount) {
    __atomic_fetch_add(&facts->counters[check_counter(counter)], (u64)amount, __ATOMIC_RELAXED);
}

unsigned long lathe_total(const LatheCounter *counter) {
    return __atomic_load_n(&facts->counters[check_counter(counter)], __ATOMIC_RELAXED);
}

/* ----------------------------------------------------------------------------------------------------------------- rows */

typedef struct Row {
    u64 key[LATHE_KEYS];
    u64 table;
    u64 *word;
} Row;

/* Rows have numbers from 1 on, in the order in which they were made. `slots` has the numbers by a hash of table and keys, open addressing, at most half full. */
static struct {
    u32 lock;
    Row *chunk[CHUNKS]; /* of CHUNK_ROWS rows; they never move */
    u64 count;
    u32 *slots;
    u64 cap;
    bool begun;
} all;

static Row *row_no(u64 number) {
    return &all.chunk[(number - 1) / CHUNK_ROWS][(number - 1) % CHUNK_ROWS];
}

static u32 *slot_for(u64 table, const u64 key[LATHE_KEYS]) {
    u64 hash = table;
    for (u32 i = 0; i < LATHE_KEYS; i++)
        hash = (hash ^ key[i] ^ hash >> 29) * 0x9e3779b97f4a7c15u;
    u64 i = hash >> 24;
    for (;; i++) {
        u32 *slot = &all.slots[i & (all.cap - 1)];
        if (!*slot || (row_no(*slot)->table == table && !memcmp(row_no(*slot)->key, key, sizeof(row_no(*slot)->key))))
            return slot;
    }
}

static void grow(void) {
    u32 *old = all.slots;
    all.cap = all.cap ? 2 * all.cap : FIRST_SLOTS;
    all.slots = lathe_alloc(all.cap * sizeof(u32));
    for (u64 i = 1; i <= all.count; i++)
        *slot_for(row_no(i)->table, row_no(i)->key) = (u32)i;
    lathe_free(old);
}

/* The row of a table for some keys; `word`: what it is counted in, if it is made; NULL: a new word. */
static Row *row_for(u64 table, const u64 key[LATHE_KEYS], u64 *word) {
    if (2 * all.count >= all.cap)
        grow();
    u32 *slot = slot_for(table, key);
    if (*slot)
        return row_no(*slot);
    if (all.count == (u64)CHUNKS * CHUNK_ROWS)
        lathe_fail_of(0, "its tables have too many rows");
    if (all.count % CHUNK_ROWS == 0)
        all.chunk[all.count / CHUNK_ROWS] = lathe_alloc(CHUNK_ROWS * sizeof(Row));
    *slot = (u32)++all.count;
    Row *row = row_no(all.count);
    memcpy(row->key, key, sizeof(row->key));
    row->table = table;
    row->word = word ? word : lathe_alloc(sizeof(u64));
    return row;
}

/* The rows that raised code adds to. */
static void begin(void) {
    for (u64 i = 0; !all.begun && i < facts->row_count; i++) {
        ToolFactsRow row = facts->keys[i];
        for (u32 k = 0; k < LATHE_KEYS; k++)
            row.key[k] += row.relative >> k & 1 ? (u64)facts->image : 0;
        row_for(row.table, row.key, &facts->rows[i]);
    }
    all.begun = true;
}

static u64 check_table(const LatheTable *table) {
    if (!table->number || table->number >= facts->table_count)
        lathe_fail_of(0, "a LatheTable is no global variable of the tool's");
    return table->number;
}

void lathe_count_in(LatheTable *table, uint64_t key, uint64_t key2, uint64_t key3, long amount) {
    const u64 keys[LATHE_KEYS] = {key, key2, key3};
    u64 number = check_table(table);
    lock(&all.lock);
    begin();
    u64 *word = row_for(number, keys, NULL)->word;
    unlock(&all.lock);
    __atomic_fetch_add(word, (u64)amount, __ATOMIC_RELAXED);
}

bool lathe_table_next(const LatheTable *table, LatheRow *row) {
    u64 number = check_table(table), total = 0;
    lock(&all.lock);
    begin();
    for (u64 i = row->index + 1; i <= all.count && !total; i++) {
        const Row *r = row_no(i);
        total = r->table == number ? __atomic_load_n(r->word, __ATOMIC_RELAXED) : 0;
        if (!total)
            continue;
        *row = (LatheRow){.total = total, .index = i};
        memcpy(row->key, r->key, sizeof(row->key));
    }
    unlock(&all.lock);
    return total;
}

void counts_after_fork(void) {
    memset(facts->counters, 0, facts->counter_count * sizeof(u64));
    memset(facts->rows, 0, facts->row_count * sizeof(u64));
    for (u64 i = 1; i <= all.count; i++)
        *row_no(i)->word = 0;
}
