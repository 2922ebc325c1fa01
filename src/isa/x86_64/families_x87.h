/* families_x87.h: the meanings of x87 and of state-saving instructions; x87.c and x87_state.c define them.
 *
 * All x87 state is in the guest state's memory. `op` is the name of an operation of helpers_x87.c or
 * helpers_x87_whole.c; `pops` is how often the register stack is popped afterwards.
 */
#ifndef ISA_X86_64_FAMILIES_X87_H
#define ISA_X86_64_FAMILIES_X87_H

#include "isa/x86_64/x86_64.h"

void x87_plain(Lifter *l, const char *op); /* no operands, or only ST(0) and ST(1) */

void x87_load(Lifter *l, const Insn *in); /* a float in memory, or a register */
void x87_load_int(Lifter *l, const Insn *in);
void x87_load_bcd(Lifter *l, const Insn *in);
void x87_store(Lifter *l, const Insn *in, u32 pops);
void x87_store_int(Lifter *l, const Insn *in, u32 pops);
void x87_store_truncated(Lifter *l, const Insn *in);
void x87_store_bcd(Lifter *l, const Insn *in);

/* dst = dst op src; a memory operand's dst is ST(0). */
void x87_arith(Lifter *l, const Insn *in, const char *op, u32 pops);
void x87_arith_int(Lifter *l, const Insn *in, const char *op);

void x87_compare(Lifter *l, const Insn *in, const char *op, u32 pops); /* ST(0) with the last operand, or ST(1) */
void x87_compare_int(Lifter *l, const Insn *in, u32 pops);
void x87_compare_flags(Lifter *l, const Insn *in, const char *op, u32 pops);

void x87_exchange(Lifter *l, const Insn *in);
void x87_move_if(Lifter *l, const Insn *in, Cond c);
void x87_free(Lifter *l, const Insn *in, u32 pops);
void x87_step(Lifter *l, int by); /* of TOP */

void x87_init(Lifter *l);
void x87_clear_exceptions(Lifter *l);
void x87_load_control(Lifter *l, const Insn *in);
void x87_store_control(Lifter *l, const Insn *in);
void x87_store_status(Lifter *l, const Insn *in);

/* Whole states in memory. access: 1 reads, 2 writes it; wide: the x87 unit's pointers have 64 bits. */
void state_environment(Lifter *l, const Insn *in, const char *helper, u32 access);
void state_fxsave(Lifter *l, const Insn *in, bool wide);
void state_fxrstor(Lifter *l, const Insn *in, bool wide);
void state_extended(Lifter *l, const Insn *in, const char *helper, u32 access);

#endif
