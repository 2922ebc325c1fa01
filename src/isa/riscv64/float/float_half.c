/* float_half.c: half precision, which few hosts have: by C functions. */
#include "isa/riscv64/families.h"
#include "isa/riscv64/float/float.h"

static Val bits_of(Lifter *l, const Insn *in, int i) {
    return ir_zext(l, rv_half(l, in, i), I64);
}

static void set(Lifter *l, const Insn *in, Val bits) {
    rv_set_half(l, in, 0, ir_trunc(l, bits, I16));
}

static u32 what(const Insn *in, RvSoftOp op) {
    return RV_SOFT(op, RV_F16, rv_rounding(in));
}

void rv_half_arith(Lifter *l, const Insn *in, RvSoftOp op) {
    Val v[3] = {0};
    rv_check_frm(l, in);
    for (int i = 0; i + 1 < in->operand_count; i++)
        v[i] = bits_of(l, in, i + 1);
    set(l, in, rv_soft(l, what(in, op), v[0], v[1], v[2]));
}

void rv_half_round(Lifter *l, const Insn *in, bool tell_inexact) {
    rv_check_frm(l, in);
    set(l, in, rv_soft(l, what(in, tell_inexact ? RV_FROUNDNX : RV_FROUND), bits_of(l, in, 1), NULL, NULL));
}

/* ------------------------------------------------------------------------------------------------------------- as singles */

/* Exact; a signaling NaN raises its flag here, as it does in every comparison. */
static Val single(Lifter *l, const Insn *in, int i) {
    u32 widen = RV_SOFT(RV_FCONVERT, RV_F32, RV_RNE) | RV_SOFT_OTHER(RV_F16);
    return ir_float_of_bits(l, rv_soft(l, widen, bits_of(l, in, i), NULL, NULL), F32);
}

void rv_half_compare(Lifter *l, const Insn *in, FPred p, bool signaling) {
    Val b = single(l, in, 2), a = single(l, in, 1);
    rv_raise_for(l, a, b, signaling);
    rv_set(l, in, 0, ir_zext(l, ir_fcmp(l, p, a, b, signaling), I64));
}

void rv_half_extreme(Lifter *l, const Insn *in, bool largest, bool propagates) {
    Val r = rv_extreme_of(l, single(l, in, 1), single(l, in, 2), largest, propagates);
    u32 narrow = RV_SOFT(RV_FCONVERT, RV_F16, RV_RNE) | RV_SOFT_OTHER(RV_F32);
    set(l, in, rv_soft(l, narrow, ir_float_bits(l, r), NULL, NULL));
}

/* -------------------------------------------------------------------------------------------------------------- bit by bit */

void rv_half_class(Lifter *l, const Insn *in) {
    rv_set(l, in, 0, rv_class_of(l, bits_of(l, in, 1), 5, 10));
}

void rv_half_sign(Lifter *l, const Insn *in, RvSign op) {
    enum { SIGN = 0x8000 };
    Val a = rv_half(l, in, 1), sign = ir_and_with(l, rv_half(l, in, 2), SIGN);
    if (op == RV_SIGN_NOT)
        sign = ir_xor(l, sign, ir_int(l, I16, SIGN));
    Val kept = op == RV_SIGN_XOR ? a : ir_and_with(l, a, SIGN - 1);
    rv_set_half(l, in, 0, ir_xor(l, kept, sign));
}

/* ------------------------------------------------------------------------------------------------------------- conversions */

static u32 integer_kind(Ty t, bool is_signed) {
    return (t == I64 ? RV_SOFT_LONG : 0) | (is_signed ? RV_SOFT_SIGNED : 0);
}

void rv_half_to_int(Lifter *l, const Insn *in, Ty to, bool is_signed) {
    rv_check_frm(l, in);
    Val r = rv_soft(l, what(in, RV_FTO_INT) | integer_kind(to, is_signed), bits_of(l, in, 1), NULL, NULL);
    rv_set(l, in, 0, ir_trunc(l, r, to));
}

void rv_half_from_int(Lifter *l, const Insn *in, Ty from, bool is_signed) {
    Val v = rv_int(l, in, 1, from);
    v = is_signed ? ir_sext(l, v, I64) : ir_zext(l, v, I64);
    rv_check_frm(l, in);
    set(l, in, rv_soft(l, what(in, RV_FFROM_INT) | integer_kind(from, is_signed), v, NULL, NULL));
}

void rv_half_from_float(Lifter *l, const Insn *in, Ty from) {
    Val v = ir_float_bits(l, rv_float(l, in, 1, from));
    rv_check_frm(l, in);
    set(l, in, rv_soft(l, what(in, RV_FCONVERT) | RV_SOFT_OTHER(rv_soft_format(from)), v, NULL, NULL));
}

void rv_half_to_float(Lifter *l, const Insn *in, Ty to) {
    u32 widen = RV_SOFT(RV_FCONVERT, rv_soft_format(to), RV_RNE) | RV_SOFT_OTHER(RV_F16);
    rv_check_frm(l, in);
    rv_set_float(l, in, 0, ir_float_of_bits(l, rv_soft(l, widen, bits_of(l, in, 1), NULL, NULL), to));
}
