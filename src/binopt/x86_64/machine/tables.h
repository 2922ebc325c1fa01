/* tables.h: unwind tables of new code, by which exceptions pass through its calls. */
#ifndef BINOPT_MACHINE_TABLES_H
#define BINOPT_MACHINE_TABLES_H

#include "binopt/x86_64/machine/graph.h"

/* A call that was put out, as offsets in the code. */
typedef struct TableCall {
    u32 start, end;
    const CallFrame *frame;
} TableCall;

/* How much room tables for so many calls take at most; none for none. */
u64 tables_most_bytes(size_t calls);

/* Writes them to `to`, which is where they are used; calls by their place. */
void tables_put(u8 *to, u64 code, u64 code_bytes, const TableCall *calls, size_t count);

#endif
