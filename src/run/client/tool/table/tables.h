/* tables.h: the rows of a tool's tables (LatheTable of lathe/tool.h). A row has a number, and each thread has a word for it: Thread.row.
 *
 * Code that always adds to several rows together adds one to a row that stands for all of them, a shared one, which has a list of what is meant. */
#ifndef RUN_CLIENT_TOOL_TABLE_TABLES_H
#define RUN_CLIENT_TOOL_TABLE_TABLES_H

#include "run/client/core/client.h"
#include "run/client/core/place.h"

/* The tool has tables, of this number. */
void rows_reserve(u32 tables);
bool rows_exist(void);
/* How many bytes of rows a Thread has behind it. */
u64 rows_bytes(void);

/* With the arena's lock held: the row of a table for some keys. */
u32 row_for(u32 table, const u64 key[LATHE_KEYS]);
/* With the arena's lock held: a new shared row; then either what it stands for, or that it is not needed. */
u32 row_share(void);
void row_set_shared(u32 row, const RowAdd *adds, u32 count);
void row_unshare(u32 row);
/* All code that has shared rows is forgotten, and no thread is in it. */
void rows_unshare_all(void);

/* Where a row is in a Thread. */
static inline u32 row_off(u32 row) {
    return (u32)(offsetof(Thread, row) + row * sizeof(u64));
}

/* A thread ends, with the arena's lock held. */
void rows_thread_ends(Thread *t);
/* A process was forked: its tables are empty. */
void rows_after_fork(Thread *t);

#endif
