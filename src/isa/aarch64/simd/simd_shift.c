/* simd_shift.c: AdvSIMD shifts: by immediates, and by the lanes of a register, which may be negative: to the right. */
#include "isa/aarch64/families_simd.h"
#include "isa/aarch64/simd/simd.h"

/* ---------------------------------------------------------------------------------------------------- by immediates */

/* 1 to the width. The bit that goes last says whether to round up. */
static Val shifted_right(Lifter *l, Val v, u32 bits, u32 count, A64ShiftWay way) {
    Val r = way.is_signed  ? ir_ashr_by(l, v, count < bits ? count : bits - 1)
            : count < bits ? ir_lshr_by(l, v, count)
                           : ir_zero(l, ir_ty(v));
    if (!way.rounds)
        return r;
    return ir_add(l, r, ir_and_with(l, ir_lshr_by(l, v, count - 1), 1));
}

void a64_simd_shift_right(Lifter *l, const Insn *in, A64ShiftWay way, bool accumulates) {
    Val r = shifted_right(l, a64v_read(l, in, 1), a64v_bits(in, 1), (u32)a64_imm(in, 2), way);
    a64v_set(l, in, 0, accumulates ? ir_add(l, a64v_read(l, in, 0), r) : r);
}

/* FPSR.QC is set unless `fits` in all lanes. */
static void tell(Lifter *l, Val fits, Ty t) {
    a64v_saturates(l, a64v_mask(l, fits, t), ir_ones(l, t));
}

/* What too large a number becomes. */
static Val limit_of(Lifter *l, Val v, A64ShiftWay way) {
    Ty t = ir_ty(v);
    if (!way.is_signed || way.to_unsigned)
        return ir_ones(l, t);
    return ir_xor(l, ir_lshr_by(l, ir_ones(l, t), 1), a64v_mask(l, ir_is_negative(l, v), t));
}

/* By a count below the width; it fits if it comes back when shifted back. */
static Val saturated_left(Lifter *l, Val v, Val count, A64ShiftWay way, Val *fits) {
    Val plain = ir_shl(l, v, count), negative = ir_is_negative(l, v);
    bool to_signed = way.is_signed && !way.to_unsigned;
    Val back = to_signed ? ir_ashr(l, plain, count) : ir_lshr(l, plain, count);
    *fits = ir_icmp(l, EQ, back, v);
    Val r = ir_select(l, *fits, plain, limit_of(l, v, way));
    if (!way.to_unsigned)
        return r;
    *fits = ir_and(l, *fits, ir_not(l, negative));
    return ir_select(l, negative, ir_zero(l, ir_ty(v)), r);
}

void a64_simd_shift_left(Lifter *l, const Insn *in, A64ShiftWay way) {
    Val v = a64v_read(l, in, 1), count = ir_int(l, ir_ty(v), a64_imm(in, 2)), fits;
    if (way.saturates) {
        Val r = saturated_left(l, v, count, way, &fits);
        a64v_set(l, in, 0, r);
        tell(l, fits, ir_ty(v));
    } else {
        a64v_set(l, in, 0, ir_shl(l, v, count));
    }
}

void a64_simd_shift_insert(Lifter *l, const Insn *in, bool left) {
    u32 bits = a64v_bits(in, 0), count = (u32)a64_imm(in, 2);
    Ty t = a64v_ty(in, 0);
    Val d = a64v_read(l, in, 0), v = a64v_read(l, in, 1), ones = ir_ones(l, t);
    if (!left && count == bits) {
        a64v_set(l, in, 0, d);
        return;
    }
    Val moved = left ? ir_shl_by(l, v, count) : ir_lshr_by(l, v, count);
    Val mask = left ? ir_shl_by(l, ones, count) : ir_lshr_by(l, ones, count);
    a64v_set(l, in, 0, ir_or(l, moved, ir_and(l, d, ir_not(l, mask))));
}

void a64_simd_shift_long(Lifter *l, const Insn *in, bool is_signed) {
    Val v = a64v_extend(l, a64v_read(l, in, 1), is_signed);
    a64v_set(l, in, 0, ir_shl_by(l, v, (u32)a64_imm(in, 2)));
}

void a64_simd_shift_narrow(Lifter *l, const Insn *in, A64ShiftWay way) {
    Val v = shifted_right(l, a64v_read(l, in, 1), a64v_bits(in, 1), (u32)a64_imm(in, 2), way);
    a64v_set(l, in, 0,
             !way.saturates  ? a64v_narrow(l, v)
             : way.is_signed ? a64v_saturate(l, v, !way.to_unsigned)
                             : a64v_saturate_unsigned(l, v));
}

/* ---------------------------------------------------------------------------------------------------- by lanes */

static Val choose_below(Lifter *l, Val count, u32 limit, Val yes, Val no) {
    return ir_select(l, ir_icmp(l, ULT, count, ir_int(l, ir_ty(count), limit)), yes, no);
}

static Val at_most(Lifter *l, Val count, u32 most) {
    return ir_binary(l, "llvm.umin", count, ir_int(l, ir_ty(count), most));
}

/* The counts are unsigned, and any. */
static Val left_by_lanes(Lifter *l, Val v, Val count, u32 bits) {
    Val below = at_most(l, count, bits - 1);
    return choose_below(l, count, bits, ir_shl(l, v, below), ir_zero(l, ir_ty(v)));
}

static Val saturated_by_lanes(Lifter *l, Val v, Val count, A64ShiftWay way, u32 bits) {
    Val fits, is_zero = ir_is_zero(l, v), near = saturated_left(l, v, at_most(l, count, bits - 1), way, &fits);
    tell(l, choose_below(l, count, bits, fits, is_zero), ir_ty(v));
    return choose_below(l, count, bits, near, ir_select(l, is_zero, v, limit_of(l, v, way)));
}

/* By `count`, at least 1. */
static Val right_by_lanes(Lifter *l, Val v, Val count, A64ShiftWay way, u32 bits) {
    Ty t = ir_ty(v);
    Val below = at_most(l, count, bits - 1), zero = ir_zero(l, t);
    Val r = way.is_signed ? ir_ashr(l, v, below) : choose_below(l, count, bits, ir_lshr(l, v, below), zero);
    if (!way.rounds)
        return r;
    Val last = at_most(l, ir_add_to(l, count, -1), bits - 1), bit = ir_and_with(l, ir_lshr(l, v, last), 1);
    return choose_below(l, count, bits + 1, ir_add(l, r, bit), zero);
}

void a64_simd_shift_by_lanes(Lifter *l, const Insn *in, A64ShiftWay way) {
    u32 bits = a64v_bits(in, 0);
    Ty t = a64v_ty(in, 0);
    Val v = a64v_read(l, in, 1), count = a64v_read(l, in, 2);
    count = ir_ashr_by(l, ir_shl_by(l, count, bits - 8), bits - 8);
    Val to_right = ir_is_negative(l, count), zero = ir_zero(l, t);
    Val up = ir_select(l, to_right, zero, count), down = ir_select(l, to_right, ir_neg(l, count), ir_int(l, t, 1));
    Val left = way.saturates ? saturated_by_lanes(l, v, up, way, bits) : left_by_lanes(l, v, up, bits);
    a64v_set(l, in, 0, ir_select(l, to_right, right_by_lanes(l, v, down, way, bits), left));
}
