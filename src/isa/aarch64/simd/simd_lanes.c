/* simd_lanes.c: what is done in each lane of vectors of integers. */
#include "isa/aarch64/families_simd.h"
#include "isa/aarch64/simd/simd.h"

static u32 width(Val v) {
    return ty_bits(ir_ty(v)) / ty_lanes(ir_ty(v));
}

/* -------------------------------------------------------------------------------------------------------------- one source */

Val a64_lane_neg(Lifter *l, Val a) {
    return ir_neg(l, a);
}

Val a64_lane_not(Lifter *l, Val a) {
    return ir_not(l, a);
}

Val a64_lane_abs(Lifter *l, Val a) {
    Ty t = ir_ty(a);
    Val args[] = {a, ir_int(l, I1, 0)};
    return ir_intrinsic(l, "llvm.abs", &t, 1, args, 2);
}

Val a64_lane_bit_count(Lifter *l, Val a) {
    return ir_unary(l, "llvm.ctpop", a);
}

Val a64_lane_zeros(Lifter *l, Val a) {
    Ty t = ir_ty(a);
    Val args[] = {a, ir_int(l, I1, 0)};
    return ir_intrinsic(l, "llvm.ctlz", &t, 1, args, 2);
}

/* Bits after the first that are equal to it. */
Val a64_lane_signs(Lifter *l, Val a) {
    Val folded = ir_xor(l, a, ir_shl_by(l, a, 1));
    return a64_lane_zeros(l, ir_or(l, folded, ir_int(l, ir_ty(a), 1)));
}

Val a64_lane_reverse_bits(Lifter *l, Val a) {
    return ir_unary(l, "llvm.bitreverse", a);
}

Val a64_lane_sat_neg(Lifter *l, Val a) {
    return a64_lanes_sqsub(l, ir_zero(l, ir_ty(a)), a);
}

/* The least number becomes the largest. */
Val a64_lane_sat_abs(Lifter *l, Val a) {
    Val magnitude = a64_lane_abs(l, a),
        r = ir_binary(l, "llvm.umin", magnitude, ir_lshr_by(l, ir_ones(l, ir_ty(a)), 1));
    a64v_saturates(l, r, magnitude);
    return r;
}

static Val each(Lifter *l, Val a, const char *helper) {
    Ty t = ir_ty(a);
    Val r = ir_zero(l, t);
    for (u32 i = 0; i < ty_lanes(t); i++) {
        Val lane = ir_extract(l, a, i);
        r = ir_insert(l, r, ir_helper(l, helper, I32, &lane, 1), i);
    }
    return r;
}

Val a64_lane_reciprocal(Lifter *l, Val a) {
    return each(l, a, "lathe_aarch64_urecpe");
}

Val a64_lane_root(Lifter *l, Val a) {
    return each(l, a, "lathe_aarch64_ursqrte");
}

/* ------------------------------------------------------------------------------------------------------ arithmetic */

Val a64_lanes_bic(Lifter *l, Val a, Val b) {
    return ir_and(l, a, ir_not(l, b));
}

Val a64_lanes_orn(Lifter *l, Val a, Val b) {
    return ir_or(l, a, ir_not(l, b));
}

Val a64_lanes_smax(Lifter *l, Val a, Val b) {
    return ir_binary(l, "llvm.smax", a, b);
}

Val a64_lanes_smin(Lifter *l, Val a, Val b) {
    return ir_binary(l, "llvm.smin", a, b);
}

Val a64_lanes_umax(Lifter *l, Val a, Val b) {
    return ir_binary(l, "llvm.umax", a, b);
}

Val a64_lanes_umin(Lifter *l, Val a, Val b) {
    return ir_binary(l, "llvm.umin", a, b);
}

Val a64_lanes_sabd(Lifter *l, Val a, Val b) {
    return ir_sub(l, a64_lanes_smax(l, a, b), a64_lanes_smin(l, a, b));
}

Val a64_lanes_uabd(Lifter *l, Val a, Val b) {
    return ir_sub(l, a64_lanes_umax(l, a, b), a64_lanes_umin(l, a, b));
}

/* The half of a sum or difference that may have one bit more. */
static Val half(Lifter *l, Val a, Val b, Op op, bool is_signed, u64 more) {
    Val r = ir_op(l, op, a64v_extend(l, a, is_signed), a64v_extend(l, b, is_signed));
    return a64v_narrow(l, ir_lshr_by(l, ir_add_to(l, r, (i64)more), 1));
}

Val a64_lanes_shadd(Lifter *l, Val a, Val b) {
    return half(l, a, b, ADD, true, 0);
}

Val a64_lanes_uhadd(Lifter *l, Val a, Val b) {
    return half(l, a, b, ADD, false, 0);
}

Val a64_lanes_srhadd(Lifter *l, Val a, Val b) {
    return half(l, a, b, ADD, true, 1);
}

Val a64_lanes_urhadd(Lifter *l, Val a, Val b) {
    return half(l, a, b, ADD, false, 1);
}

Val a64_lanes_shsub(Lifter *l, Val a, Val b) {
    return half(l, a, b, SUB, true, 0);
}

Val a64_lanes_uhsub(Lifter *l, Val a, Val b) {
    return half(l, a, b, SUB, false, 0);
}

/* ------------------------------------------------------------------------------------------------------ saturating */

static Val saturating(Lifter *l, Val a, Val b, Op op, const char *intrinsic) {
    Val r = ir_binary(l, intrinsic, a, b);
    a64v_saturates(l, r, ir_op(l, op, a, b));
    return r;
}

Val a64_lanes_sqadd(Lifter *l, Val a, Val b) {
    return saturating(l, a, b, ADD, "llvm.sadd.sat");
}

Val a64_lanes_uqadd(Lifter *l, Val a, Val b) {
    return saturating(l, a, b, ADD, "llvm.uadd.sat");
}

Val a64_lanes_sqsub(Lifter *l, Val a, Val b) {
    return saturating(l, a, b, SUB, "llvm.ssub.sat");
}

Val a64_lanes_uqsub(Lifter *l, Val a, Val b) {
    return saturating(l, a, b, SUB, "llvm.usub.sat");
}

/* An unsigned a to a signed b, and the other way round. */
Val a64_lanes_suqadd(Lifter *l, Val a, Val b) {
    return a64v_saturate(l, ir_add(l, a64v_extend(l, a, false), a64v_extend(l, b, true)), true);
}

Val a64_lanes_usqadd(Lifter *l, Val a, Val b) {
    return a64v_saturate(l, ir_add(l, a64v_extend(l, a, true), a64v_extend(l, b, false)), false);
}

/* The upper half of twice the product. Only the square of the least number is too large. */
static Val double_high(Lifter *l, Val a, Val b, bool rounds) {
    u32 bits = width(a);
    Val product = ir_mul(l, a64v_extend(l, a, true), a64v_extend(l, b, true));
    if (rounds)
        product = ir_add_to(l, product, (i64)1 << (bits - 2));
    return a64v_saturate(l, ir_ashr_by(l, product, bits - 1), true);
}

Val a64_lanes_sqdmulh(Lifter *l, Val a, Val b) {
    return double_high(l, a, b, false);
}

Val a64_lanes_sqrdmulh(Lifter *l, Val a, Val b) {
    return double_high(l, a, b, true);
}

/* -------------------------------------------------------------------------------------------------------- polynomials */

/* The product of polynomials over {0, 1}, without what is above the lane. */
Val a64_lanes_pmul(Lifter *l, Val a, Val b) {
    Ty t = ir_ty(a);
    Val r = ir_zero(l, t);
    for (u32 i = 0; i < width(a); i++) {
        Val bit = a64v_mask(l, ir_is_negative(l, ir_shl_by(l, b, width(b) - 1 - i)), t);
        r = ir_xor(l, r, ir_and(l, ir_shl_by(l, a, i), bit));
    }
    return r;
}

/* -------------------------------------------------------------------------------------------------------- comparisons */

static Val compared(Lifter *l, Val a, Val b, Pred p) {
    return a64v_mask(l, ir_icmp(l, p, a, b), ir_ty(a));
}

Val a64_lanes_eq(Lifter *l, Val a, Val b) {
    return compared(l, a, b, EQ);
}

Val a64_lanes_sgt(Lifter *l, Val a, Val b) {
    return compared(l, a, b, SGT);
}

Val a64_lanes_sge(Lifter *l, Val a, Val b) {
    return compared(l, a, b, SGE);
}

Val a64_lanes_ugt(Lifter *l, Val a, Val b) {
    return compared(l, a, b, UGT);
}

Val a64_lanes_uge(Lifter *l, Val a, Val b) {
    return compared(l, a, b, UGE);
}

Val a64_lanes_test(Lifter *l, Val a, Val b) {
    return compared(l, ir_and(l, a, b), ir_zero(l, ir_ty(a)), NE);
}
