/* unwind.h: exceptions that pass through: what the unwind tables of the process say of its code, and tables for new code.
 *
 * Unwinders go by the .eh_frame sections of files, and by such tables that were registered with libgcc. */
#ifndef BINOPT_UNWIND_H
#define BINOPT_UNWIND_H

#include "base/base.h"

/* Does the function that has an instruction at pc catch exceptions, or clean up after them? That is done by code that only its tables
 * know of. */
bool unwind_handles(u64 pc);

/* From where to where the function, or the part of one, goes that has an instruction at pc; false: no table says so. */
bool unwind_extent(u64 pc, u64 *start, u64 *end);

enum { UNWIND_REGS = 16 }; /* general registers, by their number in instructions */

/* What happens to an exception that comes out of a call. */
typedef enum UnwindKind {
    UNWIND_NONE,    /* it ends the program: there are no tables, or they do not have the call */
    UNWIND_PASSES,  /* it goes on to the caller */
    UNWIND_HANDLED, /* there is code for it, or it is not understood what is done */
} UnwindKind;

/* Where a function has then kept what its caller had in registers. */
typedef struct UnwindRow {
    u32 saved;            /* a bit for each that was saved */
    i16 off[UNWIND_REGS]; /* then where, from the stack pointer that the caller had before its call */
} UnwindRow;

/* For the call that `pc` is in; the row is set for what passes. */
UnwindKind unwind_call(u64 pc, UnwindRow *row);

/* Tables begin with a CIE and end with a zero. They have to stay until they are removed. NULL is none. */
void unwind_add(const void *tables);
void unwind_remove(const void *tables);

#endif
