/* unwind.c: the index of the new file's unwind tables, which its header PT_GNU_EH_FRAME leads to: the beginnings of all functions in rising order, each with its
 * entry of a table. LLVM has written the tables: code addresses in them are distances of 32 bits from their own place. */
#include <elf.h>
#include <stdlib.h>

#include "raise/file.h"

enum { HEAD_BYTES = 12, ROW_BYTES = 8 };
enum { DISTANCE_32 = 0x1b, COUNT_32 = 0x03, ROWS_32 = 0x3b }; /* DW_EH_PE_…: pcrel|sdata4, udata4, datarel|sdata4 */

typedef struct Row {
    i32 function, entry; /* from the index's beginning */
} Row;

/* The entry of a function at or behind `*at`, which is behind it then; false: there are no more. */
static bool next_entry(const UnwindTable *t, u64 *at, u64 *entry) {
    while (*at + 8 <= t->size) {
        u32 length, common;
        memcpy(&length, t->bytes + *at, sizeof(length));
        memcpy(&common, t->bytes + *at + 4, sizeof(common));
        if (!length || length > t->size - *at - 4 || length < 12)
            return false;
        *entry = *at;
        *at += length + 4;
        if (common) /* 0: what several functions share */
            return true;
    }
    return false;
}

void unwind_old_rows(const u8 *index, u64 size, u64 addr, LatheRange range, UnwindRows *rows) {
    const u8 form[] = {1, DISTANCE_32, COUNT_32, ROWS_32};
    u32 count;
    if (size < HEAD_BYTES || memcmp(index, form, sizeof(form)))
        return;
    memcpy(&count, index + 8, sizeof(count));
    for (u64 i = 0; i < count && HEAD_BYTES + (i + 1) * ROW_BYTES <= size; i++) {
        Row row;
        memcpy(&row, index + HEAD_BYTES + i * ROW_BYTES, sizeof(row));
        u64 function = addr + (u64)(i64)row.function;
        if (function >= range.start && function < range.end)
            VEC_PUSH(rows, ((UnwindRow){function, addr + (u64)(i64)row.entry}));
    }
}

u64 unwind_index_bytes(const UnwindTables *tables, const UnwindRows *old) {
    u64 count = old->len;
    for (size_t i = 0; i < tables->len; i++)
        for (u64 at = 0, entry; next_entry(&tables->at[i], &at, &entry);)
            count++;
    return count ? HEAD_BYTES + count * ROW_BYTES : 0;
}

static int by_function(const void *x, const void *y) {
    const Row *a = x, *b = y;
    return a->function < b->function ? -1 : a->function > b->function;
}

static Row make_row(const UnwindTable *t, u64 entry, u64 index_addr) {
    i32 distance;
    memcpy(&distance, t->bytes + entry + 8, sizeof(distance));
    u64 function = t->addr + entry + 8 + (u64)(i64)distance;
    return (Row){(i32)(function - index_addr), (i32)(t->addr + entry - index_addr)};
}

/* It leads to the first table, too: nobody looks there who has found the rows. */
static void write_head(u8 *index, u64 index_addr, u64 table, u32 count) {
    const u8 head[] = {1, DISTANCE_32, COUNT_32, ROWS_32};
    i32 to_table = (i32)(table - (index_addr + 4));
    memcpy(index, head, sizeof(head));
    memcpy(index + 4, &to_table, sizeof(to_table));
    memcpy(index + 8, &count, sizeof(count));
}

void unwind_index_write(const UnwindTables *tables, const UnwindRows *old, u8 *index, u64 index_addr) {
    VEC(Row) rows = {0};
    for (size_t i = 0; i < tables->len; i++)
        for (u64 at = 0, entry; next_entry(&tables->at[i], &at, &entry);)
            VEC_PUSH(&rows, make_row(&tables->at[i], entry, index_addr));
    for (size_t i = 0; i < old->len; i++)
        VEC_PUSH(&rows, ((Row){(i32)(old->at[i].function - index_addr), (i32)(old->at[i].entry - index_addr)}));
    if (rows.len && tables->len) {
        qsort(rows.at, rows.len, sizeof(Row), by_function);
        write_head(index, index_addr, tables->at[0].addr, (u32)rows.len);
        memcpy(index + HEAD_BYTES, rows.at, rows.len * sizeof(Row));
    }
    VEC_FREE(&rows);
}
