/* float_scalar.c: the meanings of scalar floating point. What is above a scalar in its register becomes zero. */
#include "isa/aarch64/families.h"
#include "isa/aarch64/float.h"

static Val scalar(Lifter *l, const Insn *in, int i) {
    return a64_v(l, in, i, a64_float_ty(in, i));
}

void a64_float_arith(Lifter *l, const Insn *in, A64SoftOp op) {
    Val v[3] = {0};
    for (int i = 1; i < in->operand_count; i++)
        v[i - 1] = scalar(l, in, i);
    a64_set_v(l, in, 0, a64_float_op(l, op, v[0], v[1], v[2]));
}

/* -------------------------------------------------------------------------------------------------------- moves and signs */

void a64_float_move(Lifter *l, const Insn *in) {
    a64_set_v(l, in, 0, scalar(l, in, 1));
}

void a64_float_sign(Lifter *l, const Insn *in, bool negates) {
    Val v = scalar(l, in, 1);
    a64_set_v(l, in, 0, negates ? a64_float_negate(l, v) : a64_float_absolute(l, v));
}

void a64_float_constant(Lifter *l, const Insn *in) {
    Ty t = a64_float_ty(in, 0);
    a64_set_v(l, in, 0, ir_bitcast(l, immediate(l, in, A64_FLOAT_BITS, ty_as_int(t)), t));
}

/* Between a general register and a vector register: bits. */
void a64_float_to_bits(Lifter *l, const Insn *in, Ty t) {
    a64_set(l, in, 0, a64_v(l, in, 1, t));
}

void a64_float_from_bits(Lifter *l, const Insn *in, Ty t) {
    a64_set_v(l, in, 0, a64_int(l, in, 1, t));
}

void a64_float_to_bits_high(Lifter *l, const Insn *in) {
    a64_set(l, in, 0, ir_extract(l, a64_v(l, in, 1, VECTOR(I64, 2)), 1));
}

void a64_float_from_bits_high(Lifter *l, const Insn *in) {
    a64_set_v(l, in, 0, ir_insert(l, a64_v(l, in, 0, VECTOR(I64, 2)), a64_x(l, in, 1), 1));
}

/* ------------------------------------------------------------------------------------------------------------- conditions */

/* Under a condition: only what is compared raises something. */
static Val flags_if(Lifter *l, const A64If *only, u32 what, Val a, Val b) {
    Val otherwise = ir_int(l, I32, only->nzcv);
    Label before = ir_where(l), compares = ir_label(l, ""), done = ir_label(l, "");
    ir_branch(l, only->cond, compares, done);
    ir_here(l, compares);
    Val flags = ir_trunc(l, a64_soft(l, what, a, b, NULL), I32);
    Label after = ir_where(l);
    ir_goto(l, done);
    ir_here(l, done);
    Val result = ir_phi(l, I32);
    ir_phi_add(result, otherwise, before);
    ir_phi_add(result, flags, after);
    return result;
}

static void compare(Lifter *l, const Insn *in, Val b, bool signaling, const A64If *only) {
    Val a = scalar(l, in, 0);
    Ty t = ir_ty(a);
    if (!l->strict_fp && t != I16) {
        a64_flags_fcmp(l, a, b, only);
        return;
    }
    u32 what = A64_SOFT(signaling ? A64_FCMPE : A64_FCMP, a64_soft_format(t), A64_ROUND_FPCR);
    Val x = ir_float_bits(l, a), y = ir_float_bits(l, b);
    a64_flags_bits(l, only && only->cond ? flags_if(l, only, what, x, y)
                                         : ir_trunc(l, a64_soft(l, what, x, y, NULL), I32));
}

void a64_float_compare(Lifter *l, const Insn *in, bool signaling) {
    compare(l, in, scalar(l, in, 1), signaling, NULL);
}

void a64_float_compare_zero(Lifter *l, const Insn *in, bool signaling) {
    compare(l, in, ir_zero(l, a64_float_ty(in, 0)), signaling, NULL);
}

void a64_float_compare_if(Lifter *l, const Insn *in, bool signaling) {
    A64Cond c = (A64Cond)a64_imm(in, 3);
    A64If only = {c >= A64_AL ? NULL : a64_condition(l, c), (u32)a64_imm(in, 2)};
    compare(l, in, scalar(l, in, 1), signaling, &only);
}

void a64_float_select(Lifter *l, const Insn *in) {
    Val cond = a64_condition(l, (A64Cond)a64_imm(in, 3)), a = scalar(l, in, 1), b = scalar(l, in, 2);
    a64_set_v(l, in, 0, ir_select(l, cond, a, b));
}

/* ------------------------------------------------------------------------------------------------------------ conversions */

void a64_float_to_integral(Lifter *l, const Insn *in, u32 rounding, bool tell_inexact) {
    a64_set_v(l, in, 0, a64_float_round(l, scalar(l, in, 1), rounding, tell_inexact));
}

void a64_float_to_integral_int(Lifter *l, const Insn *in, bool is_long, u32 rounding) {
    Val v = scalar(l, in, 1);
    Ty t = ir_ty(v);
    u32 what = A64_SOFT(A64_FRINT_INT, a64_soft_format(t), rounding) | (is_long ? A64_SOFT_LONG : 0);
    a64_set_v(l, in, 0, ir_float_of_bits(l, a64_soft(l, what, ir_float_bits(l, v), NULL, NULL), t));
}

void a64_float_to_format(Lifter *l, const Insn *in) {
    a64_set_v(l, in, 0, a64_float_convert(l, scalar(l, in, 1), a64_float_ty(in, 0)));
}

void a64_float_to_bfloat(Lifter *l, const Insn *in) {
    Val r =
        a64_soft(l, A64_SOFT(A64_FTO_BFLOAT, A64_F32, A64_ROUND_FPCR), ir_float_bits(l, scalar(l, in, 1)), NULL, NULL);
    a64_set_v(l, in, 0, ir_trunc(l, r, I16));
}

/* With the bits behind the binary point in operand 2, if there is one. */
static u32 fraction_bits(const Insn *in) {
    return in->operand_count > 2 ? (u32)a64_imm(in, 2) : 0;
}

void a64_float_to_integer(Lifter *l, const Insn *in, bool is_signed, u32 rounding) {
    a64_set(l, in, 0, a64_float_to_int(l, scalar(l, in, 1), a64_ty(in, 0), is_signed, rounding, fraction_bits(in)));
}

void a64_float_from_integer(Lifter *l, const Insn *in, bool is_signed) {
    a64_set_v(l, in, 0, a64_float_from_int(l, a64_x(l, in, 1), a64_float_ty(in, 0), is_signed, fraction_bits(in)));
}

void a64_float_to_javascript(Lifter *l, const Insn *in) {
    Val no = ir_int(l, I1, 0);
    Val r = a64_soft(l, A64_SOFT(A64_FTO_JAVASCRIPT, A64_F64, A64_ROUND_FPCR), ir_float_bits(l, scalar(l, in, 1)), NULL,
                     NULL);
    a64_set(l, in, 0, ir_trunc(l, r, I32));
    a64_set_flag(l, A64_N, no);
    a64_set_flag(l, A64_Z, ir_trunc(l, ir_lshr_by(l, r, 32), I1));
    a64_set_flag(l, A64_C, no);
    a64_set_flag(l, A64_V, no);
}
