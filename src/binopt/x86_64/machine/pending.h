/* pending.h: additions and copies that are not made until they have to be.
 *
 * While code is put out, a register's value may be known as another one plus a number. Memory operands take such values as
 * they are; whatever else reads the register makes it be computed first. So pointer arithmetic with constants goes into displacements,
 * and calls that were inlined do not move the stack pointer. */
#ifndef BINOPT_MACHINE_PENDING_H
#define BINOPT_MACHINE_PENDING_H

#include "binopt/x86_64/machine/encode.h"

typedef struct Code {
    u8 *write; /* where bytes go */
    u64 run;   /* and where they will be */
    u32 size;
} Code;

/* A register holds the sum or, with `other` NO_REG, a multiple of what others hold; with PENDING_SIGNED it is the low half of one,
 * extended with its sign. */
enum { PENDING_SIGNED = 0xfd };
typedef struct Fact {
    u8 reg, of, other;
    i32 by;
} Fact;

enum { MAX_FACTS = 8 };

/* A register is `from` plus `delta`, or the low half of that. One that is another register's has nobody that is from it. */
typedef struct Pending {
    u8 from[GP_COUNT];
    i64 delta[GP_COUNT];
    Regs open;   /* those that are not simply themselves */
    Regs narrow; /* of these, those that are 32 bits */
    Fact fact[MAX_FACTS];
    u32 fact_count;
} Pending;

void pending_reset(Pending *p);
/* Puts the register's value into it; of others only those in `needed` are kept. */
void pending_settle(Pending *p, Code *c, u8 reg, Regs needed);
/* All that are needed. */
void pending_settle_all(Pending *p, Code *c, Regs needed);
/* Before a register is written: those that are made from it. */
void pending_overwrite(Pending *p, Code *c, u8 reg, Regs needed);
/* It is written, and has its value. */
void pending_written(Pending *p, u8 reg);
/* What a register was just given; who has that already, or NO_REG. */
void pending_learn(Pending *p, Fact f);
u8 pending_known(const Pending *p, u8 of, u8 other, i32 by);
/* A register that nobody reads any more, or NO_REG. */
u8 pending_spare(const Pending *p, Regs needed);
/* reg = from + delta, as they are now, in 64 or 32 bits; false if that cannot be told so, and then nothing has changed. */
bool pending_set(Pending *p, Code *c, u8 reg, u8 from, i64 delta, u32 bits, Regs needed);
/* The same from what register `real` holds itself, whatever it stands for. False if that would go round in circles. */
bool pending_set_real(Pending *p, Code *c, u8 reg, u8 real, i64 delta, Regs needed);
/* The operand with what its registers are made from; false if it cannot be written so. */
bool pending_resolve(const Pending *p, Mem *m);

#endif
