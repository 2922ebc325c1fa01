/* place.h: which instruction of the guest a host address in quick code belongs to. */
#ifndef RUN_CLIENT_PLACE_H
#define RUN_CLIENT_PLACE_H

#include "base/base.h"

typedef struct QuickPlace {
    u64 pc, next;   /* the instruction, and the one behind it */
    bool boundary;  /* nothing of it is done yet */
    bool amid;      /* no jump leads here: a tool counts it together with instructions before it */
    bool dead;      /* its block is forgotten: guest code may be other code by now */
    i32 spilled[2]; /* registers that are the guest's only in the Thread, at spill_off; -1: none */
    u32 spill_off[2];
    i32 based; /* a register that has the guest's gs base added, or -1 */
    u32 ahead; /* so many instructions from this one on are in a tool's counts, though they are not executed yet */
    bool borrows_fs; /* the base of fs is not the guest's, which is in Thread.spill_rax */
} QuickPlace;

#endif
