/* unwind.h: exceptions that pass through code: what the unwind tables of the process say, and tables for new code.
 *
 * Unwinders use the .eh_frame sections of files, and tables of the same format that were registered with libgcc. */
#ifndef BINOPT_UNWIND_H
#define BINOPT_UNWIND_H

#include "base/base.h"

/* True if the function with the instruction at pc catches exceptions or cleans up after them. The code for that is
 * known only from its tables. */
bool unwind_handles(u64 pc);

/* The extent of the function, or part of one, with the instruction at pc. Returns false if no table has it. */
bool unwind_extent(u64 pc, u64 *start, u64 *end);

enum { UNWIND_REGS = 16 }; /* general registers, by their number in instructions */

/* What happens to an exception that comes out of a call. */
typedef enum UnwindKind {
    UNWIND_NONE,    /* it ends the program: there are no tables, or they do not list the call */
    UNWIND_PASSES,  /* it passes on to the caller */
    UNWIND_HANDLED, /* there is a handler for it, or the tables are not understood */
} UnwindKind;

/* Where a function has saved its caller's registers at a call. */
typedef struct UnwindRow {
    u32 saved;            /* one bit for each saved register */
    i16 off[UNWIND_REGS]; /* their places, relative to the caller's stack pointer before its call */
} UnwindRow;

/* For the call that contains `pc`. The row is set if the result is UNWIND_PASSES. */
UnwindKind unwind_call(u64 pc, UnwindRow *row);

/* Tables begin with a CIE and end with a zero. They must exist until they are removed. NULL is ignored. */
void unwind_add(const void *tables);
void unwind_remove(const void *tables);

#endif
