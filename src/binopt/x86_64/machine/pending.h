/* pending.h: additions and copies that are not made until they have to be.
 *
 * While code is emitted, a register's value may be recorded as another register plus a number. Memory operands can use such values directly;
 * any other instruction that reads the register makes it be computed first. So pointer arithmetic with constants goes into displacements,
 * and inlined calls do not move the stack pointer. */
#ifndef BINOPT_MACHINE_PENDING_H
#define BINOPT_MACHINE_PENDING_H

#include "binopt/x86_64/machine/encode.h"

typedef struct CodeOut {
    u8 *write; /* where bytes are written */
    u64 run;   /* the address at which they will run */
    u32 size;
} CodeOut;

/* A register `reg` holds the sum of two others or, with `other` NO_REG, a multiple of one; with PENDING_SIGNED it holds
 * the sign-extended low half of one. */
enum { PENDING_SIGNED = 0xfd };
typedef struct RegFact {
    u8 reg, of, other;
    i32 by;
} RegFact;

enum { MAX_FACTS = 8 };

/* A register's value is `from` plus `delta`, or the low half of that. A register whose value is pending is never the
 * `from` of another one. */
typedef struct Pending {
    u8 from[GP_COUNT];
    i64 delta[GP_COUNT];
    Regs open;   /* registers whose value is pending */
    Regs narrow; /* those of them that have 32 bits */
    RegFact fact[MAX_FACTS];
    u32 fact_count;
} Pending;

void pending_reset(Pending *p);
/* Computes the register's value. Of the other registers, only those in `needed` have to keep their values. */
void pending_settle(Pending *p, CodeOut *c, u8 reg, Regs needed);
/* Computes the values of all needed registers. */
void pending_settle_all(Pending *p, CodeOut *c, Regs needed);
/* Called before a register is written: computes the registers that are made from it. */
void pending_overwrite(Pending *p, CodeOut *c, u8 reg, Regs needed);
/* The register was written and has its value. */
void pending_written(Pending *p, u8 reg);
/* pending_learn records what a register was just given. pending_known returns a register that holds such a value, or
 * NO_REG. */
void pending_learn(Pending *p, RegFact f);
u8 pending_known(const Pending *p, u8 of, u8 other, i32 by);
/* A register that is not read any more, or NO_REG. */
u8 pending_spare(const Pending *p, Regs needed);
/* Records reg = from + delta, of their present values, in 64 or 32 bits. Returns false, and changes nothing, if that
 * cannot be recorded. */
bool pending_set(Pending *p, CodeOut *c, u8 reg, u8 from, i64 delta, u32 bits, Regs needed);
/* The same with what the register `real` physically holds, whatever its pending value is. Returns false if reg would
 * depend on itself. */
bool pending_set_real(Pending *p, CodeOut *c, u8 reg, u8 real, i64 delta, Regs needed);
/* Replaces the operand's registers by what their values are made from. Returns false if the result cannot be encoded. */
bool pending_resolve(const Pending *p, Mem *m);

#endif
