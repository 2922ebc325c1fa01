/* float.h: the words that the floating-point meanings share.
 *
 * Where a host has forms (forms.h), the guest's rounding mode is the host's while lifted code runs, as far as the host has it, and
 * the host's exception flags are the guest's, besides those in the state (LatheRiscv64Cpu.fflags) that no instruction of the host
 * raised. What the host cannot round is done in integers by a C function.
 */
#ifndef ISA_RISCV64_FLOAT_H
#define ISA_RISCV64_FLOAT_H

#include "isa/riscv64/float_soft.h"
#include "isa/riscv64/format.h"
#include "isa/riscv64/forms.h"

/* Float register operand i as F32 or F64; or its low bits, boxed or not, as an integer type. */
static inline Val rv_float(Lifter *l, const Insn *in, int i, Ty t) {
    return reg_read(l, (Reg)(RV_F0 + in->op[i].no), t);
}
/* F32 is boxed, F64 and I64 are all of it. */
static inline void rv_set_float(Lifter *l, const Insn *in, int i, Val v) {
    reg_write(l, (Reg)(RV_F0 + in->op[i].no), v);
}

/* Halves are integers of 16 bits. */
Val rv_half(Lifter *l, const Insn *in, int i);
void rv_set_half(Lifter *l, const Insn *in, int i, Val v);

/* A result that is not a number is the default one. */
Val rv_default_nan(Lifter *l, Ty t);
Val rv_canonical(Lifter *l, Val v);

/* Flags of the manual's fflags. */
enum { RV_NX = 1, RV_UF = 2, RV_OF = 4, RV_DZ = 8, RV_NV = 16 };
/* Are exact results and flags a matter of integers, because the host's environment is not the guest's? */
static inline bool rv_is_soft(const Lifter *l) {
    return l->strict_fp && !rv_forms(l);
}
/* Where that is so: raise what the operands of a comparison, or of another operation that does not round, do. */
void rv_raise_for(Lifter *l, Val a, Val b, bool signaling);
/* Raise a flag where cond holds. */
void rv_raise_if(Lifter *l, Val cond, u32 flag);

/* The guest's rounding mode, as I8. */
Val rv_frm(Lifter *l);

/* An operation that rounds: made in one of two ways, which give the same type. */
typedef Val RvMake(Lifter *l, const Insn *in, const void *arg);
/* By `host` where the host rounds as the instruction wants, else by `soft`. */
Val rv_rounded(Lifter *l, const Insn *in, RvMake *host, RvMake *soft, const void *arg);
/* The same, and by `host` where `exact` is true at run time: then nothing is rounded. */
Val rv_rounded_unless(Lifter *l, const Insn *in, RvMake *exact, RvMake *host, RvMake *soft, const void *arg);
/* The illegal-instruction trap of a rounding mode that there is not; once per instruction that rounds dynamically. */
void rv_check_frm(Lifter *l, const Insn *in);

/* The C function, on integers: bits of floats are zero-extended. The result has 64 bits. */
Val rv_soft(Lifter *l, u32 what, Val a, Val b, Val c);
static inline RvSoftFormat rv_soft_format(Ty t) {
    return t == F32 ? RV_F32 : t == F64 ? RV_F64 : RV_F16;
}

/* float_order.c: of two floats, also for halves, which are compared as singles */
Val rv_extreme_of(Lifter *l, Val a, Val b, bool largest, bool propagates);
/* By the bits of a float with so many bits of exponent and fraction. */
Val rv_class_of(Lifter *l, Val bits, u32 exponent_bits, u32 fraction_bits);

#endif
