/* float.h: the words that the meanings of floating point share, of scalars and of lanes.
 *
 * A type is F32, F64, or I16 for a half, or a vector of these. Under l->strict_fp every operation that can round, raise or see a NaN is a C function on
 * integers (helpers_float.c), exact in all modes of fpcr and all flags of fpsr. Otherwise it is LLVM's plain one; halves are always
 * the function's. A result that is not a number is then the default one. Code that is not strict has the modes of the host (forms.h), or leaves with LATHE_TRAP_ROUNDING where
 * fpcr is set to something else than zero.
 */
#ifndef ISA_AARCH64_FLOAT_H
#define ISA_AARCH64_FLOAT_H

#include "isa/aarch64/field.h"
#include "isa/aarch64/float_soft.h"
#include "isa/softfloat.h"

/* The type of scalar operand i: I16, F32 or F64. */
static inline Ty a64_float_ty(const Insn *in, int i) {
    u32 bits = in->op[i].bits;
    return bits == 64 ? F64 : bits == 32 ? F32 : I16;
}

/* a op b op c, those that the operation has; others are NULL. Also of vectors, lane by lane. Of comparisons (A64_FEQ to A64_FACGT) the result is I1 or a
 * vector of these. */
Val a64_float_op(Lifter *l, A64SoftOp op, Val a, Val b, Val c);
/* To an integral number; rounding is a SoftRounding or A64_ROUND_FPCR. */
Val a64_float_round(Lifter *l, Val v, u32 rounding, bool tell_inexact);
/* To integers of the type `to` (I16, I32, I64, or a vector), with so many bits behind the binary point. */
Val a64_float_to_int(Lifter *l, Val v, Ty to, bool is_signed, u32 rounding, u32 fraction_bits);
/* From such integers. */
Val a64_float_from_int(Lifter *l, Val v, Ty to, bool is_signed, u32 fraction_bits);
/* To another format. */
Val a64_float_convert(Lifter *l, Val v, Ty to);

Val a64_float_negate(Lifter *l, Val v);
Val a64_float_absolute(Lifter *l, Val v);

/* The C function, on integers: bits of floats are zero-extended. The result has 64 bits. */
Val a64_soft(Lifter *l, u32 what, Val a, Val b, Val c);
A64SoftFormat a64_soft_format(Ty t);

/* float_state.c: fpcr and fpsr. */
Val a64_fpcr(Lifter *l);
void a64_set_fpcr(Lifter *l, const Insn *in, Val v);
Val a64_fpsr(Lifter *l);
void a64_set_fpsr(Lifter *l, Val v);

#endif
