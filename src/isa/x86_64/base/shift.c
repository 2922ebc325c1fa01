/* shift.c: shifts and rotates. A count of zero changes neither result nor flags; larger counts are taken modulo 32 or 64. */
#include "isa/x86_64/families_base.h"

/* The count operand masked as the CPU does, in the type t. */
static Val masked_count(Lifter *l, const Insn *in, int i, Ty t) {
    u64 mask = width(in, 0) == 64 ? 63 : 31;
    Val count = is_imm(in, i) ? imm(l, in, i, I8) : operand(l, in, i);
    return ir_zext(l, ir_and_with(l, count, mask), t);
}

/* Shift-like instructions have the flags of their result only if the count is not zero. */
static void set_flag_if(Lifter *l, Val cond, Reg f, Val v) {
    u64 known;
    if (ir_is_const(cond, &known))
        v = known ? v : flag(l, f);
    else
        v = ir_select(l, cond, v, flag(l, f));
    set_flag(l, f, v);
}

static void set_szp_if(Lifter *l, Val cond, Val r) {
    u64 known;
    if (ir_is_const(cond, &known)) {
        if (known)
            flags_logic(l, r, SET_SZP);
        return;
    }
    Val old[] = {flag(l, SF), flag(l, ZF), flag(l, PF)};
    flags_logic(l, r, SET_SZP);
    set_flag(l, SF, ir_select(l, cond, flag(l, SF), old[0]));
    set_flag(l, ZF, ir_select(l, cond, flag(l, ZF), old[1]));
    set_flag(l, PF, ir_select(l, cond, flag(l, PF), old[2]));
}

static Val nonzero(Lifter *l, Val count) {
    return ir_icmp(l, NE, count, ir_zero(l, ir_ty(count)));
}

static Val top_bit(Lifter *l, Val v) {
    return ir_is_negative(l, v);
}

/* Narrow operands are shifted in 32 bits, where every masked count is in range. */
static Val widen(Lifter *l, Val a, Shift kind) {
    if (ty_bits(ir_ty(a)) >= 32)
        return a;
    return kind == SAR ? ir_sext(l, a, I32) : ir_zext(l, a, I32);
}

static Val shifted(Lifter *l, Shift kind, Val a, Val count) {
    switch (kind) {
    case SHL:
        return ir_shl(l, a, count);
    case SHR:
        return ir_lshr(l, a, count);
    case SAR:
        return ir_ashr(l, a, count);
    }
    CHECK(false, "a shift of unknown kind");
}

/* The last bit shifted out; count is not zero. */
static Val last_out(Lifter *l, Shift kind, Val a, Val count, u32 w) {
    Val one = ir_int(l, ir_ty(a), 1), less = ir_sub(l, count, one);
    if (kind != SHL)
        return ir_trunc(l, shifted(l, kind, a, less), I1);
    Val at_top = ir_shl(l, a, less);
    return ir_trunc(l, ir_lshr_by(l, at_top, w - 1), I1);
}

/* With a count of zero `less` is -1 and the shift poison: the select's other arm is taken, but the value must be frozen. */
static Val carry_out(Lifter *l, Shift kind, Val a, Val count, u32 w) {
    u64 known;
    Val out = last_out(l, kind, a, count, w);
    return ir_is_const(count, &known) ? out : ir_freeze(l, out);
}

static Val overflow_out(Lifter *l, Shift kind, Val a, Val r, Val cf) {
    switch (kind) {
    case SHL:
        return ir_xor(l, top_bit(l, r), cf);
    case SHR:
        return top_bit(l, a);
    case SAR:
        return ir_int(l, I1, 0);
    }
    CHECK(false, "a shift of unknown kind");
}

void shift(Lifter *l, const Insn *in, Shift kind) {
    Val a = operand(l, in, 0);
    u32 w = width(in, 0);
    Val wide = widen(l, a, kind), count = masked_count(l, in, 1, ir_ty(wide));
    Val r = ir_trunc(l, shifted(l, kind, wide, count), ir_ty(a));
    Val cond = nonzero(l, count);
    u64 known;
    set_operand(l, in, 0, r);
    if (ir_is_const(cond, &known) && !known)
        return;
    Val cf = carry_out(l, kind, wide, count, w);
    set_flag_if(l, cond, CF, cf);
    set_flag_if(l, cond, OF, overflow_out(l, kind, a, r, cf));
    set_szp_if(l, cond, r);
}

void rotate(Lifter *l, const Insn *in, Rotate kind) {
    Val a = operand(l, in, 0), count = masked_count(l, in, 1, ir_ty(a));
    Val r = kind == ROL ? ir_fshl(l, a, a, count) : ir_fshr(l, a, a, count);
    Val cond = nonzero(l, count);
    set_operand(l, in, 0, r);
    Val low = ir_trunc(l, r, I1), top = top_bit(l, r);
    Val second = ir_is_negative(l, ir_shl_by(l, r, 1));
    set_flag_if(l, cond, CF, kind == ROL ? low : top);
    set_flag_if(l, cond, OF, ir_xor(l, top, kind == ROL ? low : second));
}

/* Rotate through carry, where the count is not known: the operand and CF as one integer of w + 1 bits, in a type twice as wide. */
static Val turn_by(Lifter *l, Val a, Val count, Rotate kind, Val *cf) {
    Ty t = ir_ty(a), wide = ir_ty(count);
    u32 w = ty_bits(t);
    Val all = ir_or(l, ir_zext(l, a, wide), ir_shl_by(l, flag_int(l, CF, wide), w));
    Val back = ir_sub(l, ir_int(l, wide, w + 1), count);
    Val left = kind == ROL ? count : back, right = kind == ROL ? back : count;
    Val turned = ir_or(l, ir_shl(l, all, left), ir_lshr(l, all, right));
    *cf = ir_trunc(l, ir_lshr_by(l, turned, w), I1);
    return ir_trunc(l, turned, t);
}

/* The same by a known number of bits from 1 to w, in the operand's own width. `at` is the bit that CF goes to. LLVM takes a hundred
 * times as long for chains of this in the wide type. */
static Val turn_by_known(Lifter *l, Val a, u32 count, Rotate kind, Val *cf) {
    Ty t = ir_ty(a);
    u32 w = ty_bits(t), left = kind == ROL ? count : w + 1 - count, right = w + 1 - left, at = left - 1;
    Val r = ir_shl_by(l, flag_int(l, CF, t), at);
    if (left < w)
        r = ir_or(l, r, ir_shl_by(l, a, left));
    if (right < w)
        r = ir_or(l, r, ir_lshr_by(l, a, right));
    *cf = ir_trunc(l, ir_lshr_by(l, a, w - left), I1);
    return r;
}

void rotate_carry(Lifter *l, const Insn *in, Rotate kind) {
    Val a = operand(l, in, 0);
    u32 w = width(in, 0);
    Ty wide = w < 32 ? I64 : I128;
    Val count = ir_urem(l, masked_count(l, in, 1, wide), ir_int(l, wide, w + 1)), cf;
    u64 known;
    bool is_known = ir_is_const(count, &known) && known;
    Val r = is_known ? turn_by_known(l, a, (u32)known, kind, &cf) : turn_by(l, a, count, kind, &cf);
    Val cond = nonzero(l, count);
    Val second = ir_is_negative(l, ir_shl_by(l, r, 1));
    set_operand(l, in, 0, r);
    set_flag_if(l, cond, OF, ir_xor(l, top_bit(l, r), kind == ROL ? cf : second));
    set_flag_if(l, cond, CF, cf);
}

/* A 16-bit count above 16 is undefined (SDM 2B, SHLD), and CPUs differ: behind op1, AMD's shift in op1 once more, Intel's op0. Quick code executes the
 * instruction itself; what may have such a count asks the host's CPU, too, so that all code of a program has one result. */
static Val undefined_shift(Lifter *l, Shift kind, Val a, Val b, Val count, Val otherwise) {
    u64 known;
    if (ir_is_const(count, &known) && known <= 16)
        return otherwise;
    Val args[] = {ir_zext(l, a, I64), ir_zext(l, b, I64), ir_zext(l, count, I64), ir_int(l, I64, kind == SHL)};
    return ir_trunc(l, ir_helper(l, "lathe_x86_shift_double16", I64, args, 4), I16);
}

/* shld shifts op0 left and fills from the top of op1, shrd the other way. */
void shift_double(Lifter *l, const Insn *in, Shift kind) {
    Val a = operand(l, in, 0), b = operand(l, in, 1);
    u32 w = width(in, 0);
    Ty t = ty_int(w);
    Val count = masked_count(l, in, 2, t), cond = nonzero(l, count);
    Val r, cf, less = ir_sub(l, count, ir_int(l, t, 1));
    if (w == 16) {
        Val wide_count = ir_zext(l, count, I64), w_less = ir_sub(l, wide_count, ir_int(l, I64, 1));
        Val x = ir_zext(l, a, I64), y = ir_zext(l, b, I64);
        if (kind == SHL) {
            Val all = ir_or(l, ir_or(l, ir_shl_by(l, x, 32), ir_shl_by(l, y, 16)), x);
            r = ir_trunc(l, ir_lshr_by(l, ir_shl(l, all, wide_count), 32), t);
            cf = ir_trunc(l, ir_lshr_by(l, ir_shl(l, all, w_less), 47), I1);
        } else {
            Val all = ir_or(l, ir_or(l, ir_shl_by(l, x, 32), ir_shl_by(l, y, 16)), x);
            r = ir_trunc(l, ir_lshr(l, all, wide_count), t);
            cf = ir_trunc(l, ir_lshr(l, all, w_less), I1);
        }
        r = undefined_shift(l, kind, a, b, count, r);
    } else if (kind == SHL) {
        r = ir_fshl(l, a, b, count);
        cf = top_bit(l, ir_shl(l, a, less));
    } else {
        r = ir_fshr(l, b, a, count);
        cf = ir_trunc(l, ir_lshr(l, a, less), I1);
    }
    u64 known;
    if (!ir_is_const(cond, &known))
        cf = ir_freeze(l, cf);
    set_operand(l, in, 0, r);
    if (ir_is_const(cond, &known) && !known)
        return;
    set_flag_if(l, cond, CF, cf);
    set_flag_if(l, cond, OF, ir_xor(l, top_bit(l, a), top_bit(l, r)));
    set_szp_if(l, cond, r);
}

void shift_no_flags(Lifter *l, const Insn *in, Shift kind) {
    Val a = operand(l, in, 1);
    Val count = ir_and_with(l, operand(l, in, 2), width(in, 0) - 1);
    set_operand(l, in, 0, shifted(l, kind, a, count));
}

void rotate_no_flags(Lifter *l, const Insn *in) {
    Val a = operand(l, in, 1);
    set_operand(l, in, 0, ir_fshr(l, a, a, imm(l, in, 2, ir_ty(a))));
}
