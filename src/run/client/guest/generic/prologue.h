/* prologue.h: what a function does with the stack, as its instructions tell: which registers it has saved, and where. For guests with a link register. */
#ifndef GUEST_PROLOGUE_H
#define GUEST_PROLOGUE_H

#include "guest_cpu.h"

typedef struct PrologueFrame {
    i64 depth;        /* how many bytes sp is below its value in the caller */
    bool unknown;     /* sp was changed by an amount that is not known */
    bool has_pointer; /* the frame pointer is the stack pointer of the caller, less this: */
    i64 pointer_depth;
    u32 saved;               /* a bit for each register that is in memory: */
    i64 at[GUEST_REGISTERS]; /* how far below the caller's stack pointer */
} PrologueFrame;

typedef struct Prologue {
    PrologueFrame now, before; /* before: when the return address was loaded again */
    bool has_before;
} Prologue;

/* guest/NAME/caller.c: notes what the instruction that this word begins with does, and returns its size. */
u32 prologue_read(Prologue *p, u32 word);

/* prologue_read calls these for an instruction that saves a register at sp + off; that sets the frame pointer to sp + off; that loads a register; and
 * that leaves the function. */
void prologue_save(PrologueFrame *f, u32 reg, i64 off);
void prologue_point(PrologueFrame *f, i64 off);
void prologue_load(Prologue *p, u32 reg);
void prologue_leave(Prologue *p);

#endif
