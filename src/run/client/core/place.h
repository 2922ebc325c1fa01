/* place.h: which instruction of the guest a host address in quick code belongs to. */
#ifndef RUN_CLIENT_PLACE_H
#define RUN_CLIENT_PLACE_H

#include "base/base.h"
#include "tool/package.h"

/* An amount that is added to a row of a tool's tables. */
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
    bool boundary;  /* nothing was done yet, neither by the instruction nor by a tool before it */
    bool begun;     /* what a tool does before the instruction is done; nothing of the instruction itself */
    bool amid;      /* no jump leads here: a tool counts it together with instructions before it */
    bool of_tool;   /* the address is in a tool's code in front of the instruction */
    bool dead;      /* its block is forgotten: the guest's memory may have other code there by now */
    i32 spilled[2]; /* numbers of registers whose guest value is in the Thread, at spill_off; -1: none */
    u32 spill_off[2];
    u32 kept;  /* a bit for each register whose guest value is in Thread.tool.spill, at its number */
    i32 based; /* a register that has the guest's gs base added, or -1 */
    /* What a tool has counted already of this instruction and the ones behind it, though they are not executed yet. */
    TallySum ahead;
    i64 here[TOOL_COUNTS]; /* the part of it that this instruction counts */
    u32 here_rows;         /* the first so many of ahead.row are this instruction's */
    bool inside;           /* the instruction is not the first one of what a tool sees as a block */
    bool borrows_fs;       /* the base of fs is not the guest's, which is in Thread.spill_rax */
} QuickPlace;

#endif
