/* unwind_tables.h: writes the unwind tables of new code, by which exceptions pass through its calls. */
#ifndef BINOPT_MACHINE_UNWIND_TABLES_H
#define BINOPT_MACHINE_UNWIND_TABLES_H

#include "binopt/x86_64/machine/graph.h"

/* A call of the new code, as offsets in it. */
typedef struct TableCall {
    u32 start, end;
    const CallFrame *frame;
} TableCall;

/* The most bytes that tables for so many calls need; 0 if there are no calls. */
u64 unwind_tables_most_bytes(size_t calls);

/* Writes the tables to `to`, where they are used. The calls are sorted by their place. */
void unwind_tables_put(u8 *to, u64 code, u64 code_bytes, const TableCall *calls, size_t count);

#endif
