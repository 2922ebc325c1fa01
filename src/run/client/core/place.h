/* place.h: which instruction of the guest a host address in quick code belongs to. */
#ifndef RUN_CLIENT_PLACE_H
#define RUN_CLIENT_PLACE_H

#include "base/base.h"
#include "tool/package.h"

/* An addition to a row of a tool's tables. */
typedef struct RowAdd {
    u32 row;
    i32 amount;
} RowAdd;

/* Amounts in a tool's counts. */
typedef struct TallySum {
    i64 amount[TOOL_COUNTS];
    u32 row_count;
    RowAdd row[TOOL_RUN_ROWS];
} TallySum;

typedef struct QuickPlace {
    u64 pc, next;   /* the instruction, and the one behind it */
    bool boundary;  /* nothing of it is done yet */
    bool begun;     /* nothing of it is done yet, but what a tool does before it */
    bool amid;      /* no jump leads here: a tool counts it together with instructions before it */
    bool of_tool;   /* it is in what a tool has in front of the instruction */
    bool dead;      /* its block is forgotten: guest code may be other code by now */
    i32 spilled[2]; /* registers that are the guest's only in the Thread, at spill_off; -1: none */
    u32 spill_off[2];
    u32 kept;  /* likewise, where a tool's functions have them: in Thread.tool.spill, by their numbers */
    i32 based; /* a register that has the guest's gs base added, or -1 */
    /* What of this instruction and the next ones is in a tool's counts, though they are not executed yet; and the part of this one. */
    TallySum ahead;
    i64 here[TOOL_COUNTS];
    u32 here_rows;   /* so many, from the first on, are of this one */
    bool inside;     /* it is not the first one of what a tool sees as a block */
    bool borrows_fs; /* the base of fs is not the guest's, which is in Thread.spill_rax */
} QuickPlace;

#endif
