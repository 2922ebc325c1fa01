/* rows.h: samples of guests whose instructions are rows of a table of ours: what these have in common. */
#ifndef FUZZ_ROWS_H
#define FUZZ_ROWS_H

#include "isa/isa.h"
#include "sample.h"

/* What a guest says of its table; rows are numbered from 1. */
typedef struct RowTable {
    u32 count;
    const char *const *names;
    bool (*is_left_out)(u32 row);
    void (*make_plain)(State *s); /* for what is asked of the oracle first; NULL: any state will do */
    bool (*is_right)(
        u32 row, bool ran); /* did the oracle do as it should, which ran the row's instructions, or has none of them? */
} RowTable;

extern const RowTable row_table; /* of the guest */

/* The row that a sample's number stands for, and a random one of all that there are. */
u32 row_of(u32 number);
u32 row_any(Rng *r);

/* The memory operand; NULL: there is none. */
const Operand *memory_of(const Insn *in);
/* A jump back into the sample might never end. */
bool jumps_into_sample(const Insn *in);
void append(Sample *s, u32 word, u32 size);

#endif
