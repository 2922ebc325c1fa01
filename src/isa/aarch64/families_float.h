/* families_float.h: the meanings of scalar floating point: float_scalar.c. */
#ifndef ISA_AARCH64_FAMILIES_FLOAT_H
#define ISA_AARCH64_FAMILIES_FLOAT_H

#include "isa/aarch64/aarch64.h"
#include "isa/aarch64/float_soft.h"
#include "isa/softfloat.h"

void a64_float_arith(Lifter *l, const Insn *in, A64SoftOp op);
void a64_float_move(Lifter *l, const Insn *in);
void a64_float_sign(Lifter *l, const Insn *in, bool negates);
void a64_float_constant(Lifter *l, const Insn *in);
void a64_float_to_bits(Lifter *l, const Insn *in, Ty t);
void a64_float_from_bits(Lifter *l, const Insn *in, Ty t);
void a64_float_to_bits_high(Lifter *l, const Insn *in);
void a64_float_from_bits_high(Lifter *l, const Insn *in);
void a64_float_compare(Lifter *l, const Insn *in, bool signaling);
void a64_float_compare_zero(Lifter *l, const Insn *in, bool signaling);
void a64_float_compare_if(Lifter *l, const Insn *in, bool signaling);
void a64_float_select(Lifter *l, const Insn *in);
void a64_float_to_integral(Lifter *l, const Insn *in, u32 rounding, bool tell_inexact);
void a64_float_to_integral_int(Lifter *l, const Insn *in, bool is_long, u32 rounding);
void a64_float_to_format(Lifter *l, const Insn *in);
void a64_float_to_bfloat(Lifter *l, const Insn *in);
void a64_float_to_integer(Lifter *l, const Insn *in, bool is_signed, u32 rounding);
void a64_float_from_integer(Lifter *l, const Insn *in, bool is_signed);
void a64_float_to_javascript(Lifter *l, const Insn *in);

#endif
