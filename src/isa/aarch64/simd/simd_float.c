/* simd_float.c: AdvSIMD floating point: what float.h does, in lanes. Halves are I16. */
#include "isa/aarch64/families_simd.h"
#include "isa/aarch64/float.h"
#include "isa/aarch64/simd/simd.h"

static Ty float_elem(u32 bits) {
    return bits == 64 ? F64 : bits == 32 ? F32 : I16;
}

static Ty float_ty(const Insn *in, int i) {
    return a64v_of(float_elem(a64v_bits(in, i)), a64v_lanes(in, i));
}

static Val read_floats(Lifter *l, const Insn *in, int i) {
    return a64v_read_as(l, in, i, float_ty(in, i));
}

/* ---------------------------------------------------------------------------------------------------------- arithmetic */

void a64_simd_float(Lifter *l, const Insn *in, A64SoftOp op) {
    Val a = read_floats(l, in, 1), b = in->operand_count > 2 ? read_floats(l, in, 2) : NULL;
    a64v_set(l, in, 0, a64_float_op(l, op, a, b, NULL));
}

void a64_simd_float_fused(Lifter *l, const Insn *in, A64SoftOp op) {
    Val a = read_floats(l, in, 1), b = read_floats(l, in, 2);
    a64v_set(l, in, 0, a64_float_op(l, op, a, b, read_floats(l, in, 0)));
}

void a64_simd_float_sign(Lifter *l, const Insn *in, bool negates) {
    Val v = read_floats(l, in, 1);
    a64v_set(l, in, 0, negates ? a64_float_negate(l, v) : a64_float_absolute(l, v));
}

void a64_simd_float_compare(Lifter *l, const Insn *in, A64SoftOp op) {
    Val cond = a64_float_op(l, op, read_floats(l, in, 1), read_floats(l, in, 2), NULL);
    a64v_set(l, in, 0, a64v_mask(l, cond, a64v_ty(in, 0)));
}

void a64_simd_float_compare_zero(Lifter *l, const Insn *in, A64SoftOp op, bool zero_first) {
    Val v = read_floats(l, in, 1), zero = ir_zero(l, ir_ty(v));
    Val cond = zero_first ? a64_float_op(l, op, zero, v, NULL) : a64_float_op(l, op, v, zero, NULL);
    a64v_set(l, in, 0, a64v_mask(l, cond, a64v_ty(in, 0)));
}

/* -------------------------------------------------------------------------------------------------------- several lanes */

void a64_simd_float_pairs(Lifter *l, const Insn *in, A64SoftOp op) {
    Val a = read_floats(l, in, 1), b = read_floats(l, in, 2);
    a64v_set(l, in, 0, a64_float_op(l, op, a64v_every_second(l, a, b, 0), a64v_every_second(l, a, b, 1), NULL));
}

/* The manual, Reduce: the halves first. */
void a64_simd_float_across(Lifter *l, const Insn *in, A64SoftOp op) {
    Val lanes[8], v = read_floats(l, in, 1);
    u32 n = ty_lanes(ir_ty(v));
    for (u32 i = 0; i < n; i++)
        lanes[i] = ir_extract(l, v, i);
    for (; n > 1; n /= 2)
        for (u32 i = 0; i < n / 2; i++)
            lanes[i] = a64_float_op(l, op, lanes[2 * i], lanes[2 * i + 1], NULL);
    a64v_set(l, in, 0, lanes[0]);
}

/* ------------------------------------------------------------------------------------------------------------ conversions */

void a64_simd_float_round(Lifter *l, const Insn *in, u32 rounding, bool tell_inexact) {
    a64v_set(l, in, 0, a64_float_round(l, read_floats(l, in, 1), rounding, tell_inexact));
}

/* Lane by lane, by the C function. */
static Val each(Lifter *l, Val v, Ty to, u32 what) {
    if (!ty_is_vector(to))
        return ir_float_of_bits(l, a64_soft(l, what, ir_float_bits(l, v), NULL, NULL), to);
    Val r = ir_zero(l, to);
    for (u32 i = 0; i < ty_lanes(to); i++) {
        Val bits = a64_soft(l, what, ir_float_bits(l, ir_extract(l, v, i)), NULL, NULL);
        r = ir_insert(l, r, ir_float_of_bits(l, bits, ty_elem(to)), i);
    }
    return r;
}

void a64_simd_float_round_int(Lifter *l, const Insn *in, bool is_long, u32 rounding) {
    Val v = read_floats(l, in, 1);
    Ty t = ir_ty(v);
    u32 what = A64_SOFT(A64_FRINT_INT, a64_soft_format(t), rounding) | (is_long ? A64_SOFT_LONG : 0);
    a64v_set(l, in, 0, each(l, v, t, what));
}

static u32 fraction_bits(const Insn *in) {
    return in->operand_count > 2 ? (u32)a64_imm(in, 2) : 0;
}

void a64_simd_float_to_int(Lifter *l, const Insn *in, bool is_signed, u32 rounding) {
    Val v = read_floats(l, in, 1);
    a64v_set(l, in, 0, a64_float_to_int(l, v, a64v_ty(in, 0), is_signed, rounding, fraction_bits(in)));
}

void a64_simd_float_from_int(Lifter *l, const Insn *in, bool is_signed) {
    a64v_set(l, in, 0, a64_float_from_int(l, a64v_read(l, in, 1), float_ty(in, 0), is_signed, fraction_bits(in)));
}

void a64_simd_float_convert(Lifter *l, const Insn *in) {
    a64v_set(l, in, 0, a64_float_convert(l, read_floats(l, in, 1), float_ty(in, 0)));
}

void a64_simd_float_to_bfloat(Lifter *l, const Insn *in) {
    Val v = read_floats(l, in, 1);
    a64v_set(l, in, 0, each(l, v, a64v_ty(in, 0), A64_SOFT(A64_FTO_BFLOAT, A64_F32, A64_ROUND_FPCR)));
}

enum { FPCR_FZ = 24 };

/* To odd: towards zero, and what is lost sets the lowest bit, so that it can be rounded again. What is flushed to zero stays that. */
static Val converted_to_odd(Lifter *l, Val v) {
    u32 what = A64_SOFT(A64_FCONVERT, A64_F32, SOFT_TO_ZERO) | A64_SOFT_FROM(A64_F64);
    Val bits = ir_trunc(l, a64_soft(l, what, ir_float_bits(l, v), NULL, NULL), I32);
    Val inexact = ir_fcmp(l, ONE, ir_fext(l, ir_bitcast(l, bits, F32), F64), v, false);
    Val flushes = ir_trunc(l, ir_lshr_by(l, a64_fpcr(l), FPCR_FZ), I1);
    Val is_zero = ir_is_zero(l, ir_shl_by(l, bits, 1));
    inexact = ir_and(l, inexact, ir_not(l, ir_and(l, flushes, is_zero)));
    return ir_or(l, bits, ir_zext(l, inexact, I32));
}

void a64_simd_float_convert_odd(Lifter *l, const Insn *in) {
    Val v = read_floats(l, in, 1);
    if (!ty_is_vector(ir_ty(v))) {
        a64v_set(l, in, 0, converted_to_odd(l, v));
        return;
    }
    Val low = converted_to_odd(l, ir_extract(l, v, 0));
    a64v_set(l, in, 0, a64v_join(l, low, converted_to_odd(l, ir_extract(l, v, 1))));
}

/* ------------------------------------------------------------------------------------------------------- complex numbers */

/* Lanes whose numbers are i, or i with the lowest bit changed, and the sign of even and odd ones changed. */
static Val turned(Lifter *l, Val v, bool swaps, bool minus_even, bool minus_odd) {
    int lanes[8];
    Ty t = ir_ty(v);
    u32 n = ty_lanes(t);
    Val minus = a64_float_negate(l, v);
    for (u32 i = 0; i < n; i++) {
        u32 from = swaps ? i ^ 1 : i;
        lanes[i] = (int)(from + ((i & 1 ? minus_odd : minus_even) ? n : 0));
    }
    return ir_shuffle(l, v, minus, lanes, n);
}

/* op1 plus op2 turned by a right angle (real part minus the imaginary one, …), or by three. */
void a64_simd_complex_add(Lifter *l, const Insn *in) {
    bool once = a64_imm(in, 3) == 1;
    Val b = turned(l, read_floats(l, in, 2), true, once, !once);
    a64v_set(l, in, 0, a64_float_op(l, A64_FADD, read_floats(l, in, 1), b, NULL));
}

/* Even lanes twice, or odd ones. */
static Val doubled(Lifter *l, Val v, u32 odd) {
    int lanes[8];
    u32 n = ty_lanes(ir_ty(v));
    for (u32 i = 0; i < n; i++)
        lanes[i] = (int)((i & ~1u) + odd);
    return ir_shuffle(l, v, v, lanes, n);
}

/* A complex number of op2 that stands for all. */
static Val read_complex(Lifter *l, const Insn *in) {
    int lanes[8];
    if (in->op[2].seg != A64_ONE_LANE)
        return read_floats(l, in, 2);
    Ty t = float_ty(in, 2);
    Val all = a64_v(l, in, 2, ty_vector(ty_elem(t), 128));
    for (u32 i = 0; i < ty_lanes(t); i++)
        lanes[i] = (int)(2 * in->op[2].disp + (i & 1));
    return ir_shuffle(l, all, all, lanes, ty_lanes(t));
}

/* The real part of op1, or of odd turns the imaginary one, times op2 turned. */
void a64_simd_complex_multiply(Lifter *l, const Insn *in) {
    u32 turns = (u32)a64_imm(in, 3);
    Val a = doubled(l, read_floats(l, in, 1), turns & 1);
    Val b = turned(l, read_complex(l, in), turns & 1, turns == 1 || turns == 2, turns >= 2);
    a64v_set(l, in, 0, a64_float_op(l, A64_FMADD, a, b, read_floats(l, in, 0)));
}

/* ------------------------------------------------------------------------------------------------- halves into singles */

static Val singles_of_halves(Lifter *l, Val v) {
    Ty t = a64v_of(F32, ty_lanes(ir_ty(v)));
    Val r = ir_zero(l, t);
    for (u32 i = 0; i < ty_lanes(t); i++) {
        Val args[] = {l->cpu, ir_zext(l, ir_extract(l, v, i), I32)};
        r = ir_insert(l, r, ir_bitcast(l, ir_helper(l, "lathe_aarch64_half", I32, args, 2), F32), i);
    }
    return r;
}

/* One half of op1 and op2; a lane that stands for all is in both halves. */
void a64_simd_float_long_fused(Lifter *l, const Insn *in, bool subtracts, bool upper) {
    Val a = a64v_half(l, a64v_read(l, in, 1), upper), b = a64v_half(l, a64v_read(l, in, 2), upper);
    if (subtracts)
        a = a64_float_negate(l, a);
    a = singles_of_halves(l, a);
    b = singles_of_halves(l, b);
    a64v_set(l, in, 0, a64_float_op(l, A64_FMADD, a, b, read_floats(l, in, 0)));
}

/* Even or odd lanes: the upper half of a single is a bfloat. */
void a64_simd_bfloat_fused(Lifter *l, const Insn *in, u32 odd) {
    Ty words = VECTOR(I32, 4);
    Val v[2];
    for (int i = 0; i < 2; i++) {
        Val all = a64v_read_as(l, in, i + 1, words);
        v[i] = odd ? ir_and_with(l, all, 0xffff0000) : ir_shl_by(l, all, 16);
        v[i] = ir_bitcast(l, v[i], VECTOR(F32, 4));
    }
    a64v_set(l, in, 0, a64_float_op(l, A64_FMADD, v[0], v[1], read_floats(l, in, 0)));
}

static Val bfloat_dot(Lifter *l, Val sum, Val a, Val b) {
    Val args[] = {sum, a, b};
    return ir_helper(l, "lathe_aarch64_bfdot", I32, args, 3);
}

void a64_simd_bfloat_dot(Lifter *l, const Insn *in) {
    Ty t = a64v_ty(in, 0);
    Val sum = a64v_read(l, in, 0), a = a64v_read_as(l, in, 1, t), b = a64v_read_as(l, in, 2, t);
    for (u32 i = 0; i < ty_lanes(t); i++)
        sum = ir_insert(l, sum, bfloat_dot(l, ir_extract(l, sum, i), ir_extract(l, a, i), ir_extract(l, b, i)), i);
    a64v_set(l, in, 0, sum);
}

/* Rows of two pairs. */
void a64_simd_bfloat_matrix(Lifter *l, const Insn *in) {
    Ty t = VECTOR(I32, 4);
    Val sum = a64v_read(l, in, 0), a = a64v_read_as(l, in, 1, t), b = a64v_read_as(l, in, 2, t), r = sum;
    for (u32 i = 0; i < 4; i++) {
        Val v = ir_extract(l, sum, i);
        for (u32 k = 0; k < 2; k++)
            v = bfloat_dot(l, v, ir_extract(l, a, i / 2 * 2 + k), ir_extract(l, b, i % 2 * 2 + k));
        r = ir_insert(l, r, v, i);
    }
    a64v_set(l, in, 0, r);
}
