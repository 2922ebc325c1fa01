/* bits.c: bit tests, scans and counts, BMI1 and BMI2. */
#include "isa/x86_64/families_base.h"
#include "isa/x86_64/forms.h"

/* ------------------------------------------------------------------------------------------------------------ bit tests */

static Val changed(Lifter *l, BitOp op, Val v, Val mask) {
    switch (op) {
    case BIT_TEST:
        return v;
    case BIT_SET:
        return ir_or(l, v, mask);
    case BIT_RESET:
        return ir_and(l, v, ir_not(l, mask));
    case BIT_FLIP:
        return ir_xor(l, v, mask);
    }
    CHECK(false, "a bit operation of unknown kind");
}

/* SDM 2A, BT: with memory and a register offset, the offset is signed and may reach any word around the operand. */
static Val word_address(Lifter *l, const Insn *in, Val offset) {
    u32 w = width(in, 0);
    Val words = ir_ashr_by(l, ir_sext(l, offset, I64), (u32)__builtin_ctz(w));
    return ir_index(l, address(l, in, 0), words, w / 8);
}

static Val locked_change(Lifter *l, BitOp op, Val ptr, Val mask) {
    switch (op) {
    case BIT_SET:
        return ir_rmw(l, RMW_OR, ptr, mask, SEQ_CST);
    case BIT_RESET:
        return ir_rmw(l, RMW_AND, ptr, ir_not(l, mask), SEQ_CST);
    case BIT_FLIP:
        return ir_rmw(l, RMW_XOR, ptr, mask, SEQ_CST);
    case BIT_TEST:
        break;
    }
    CHECK(false, "a bit test has no locked form");
}

void bit_test(Lifter *l, const Insn *in, BitOp op) {
    Ty t = ty_int(width(in, 0));
    Val offset = is_imm(in, 1) ? imm(l, in, 1, t) : operand(l, in, 1);
    Val bit = ir_and_with(l, offset, width(in, 0) - 1), mask = ir_shl(l, ir_int(l, t, 1), bit), v;
    if (is_reg(in, 0)) {
        v = operand(l, in, 0);
        if (op != BIT_TEST)
            set_operand(l, in, 0, changed(l, op, v, mask));
    } else {
        Val ptr = is_imm(in, 1) ? address(l, in, 0) : word_address(l, in, offset);
        if (locked(in)) {
            guest_access(l, in, ptr, width(in, 0) / 8, LOADS | STORES);
            v = locked_change(l, op, ptr, mask);
        } else {
            v = guest_load(l, in, t, ptr, 0);
            if (op != BIT_TEST)
                guest_store(l, in, changed(l, op, v, mask), ptr, 0);
        }
    }
    set_flag(l, CF, ir_trunc(l, ir_lshr(l, v, bit), I1));
}

/* ------------------------------------------------------------------------------------------------------ scans and counts */

static Val count_zeros(Lifter *l, const char *intrinsic, Val v, bool zero_is_poison) {
    Ty t = ir_ty(v);
    return ir_intrinsic(l, intrinsic, &t, 1, (Val[]){v, ir_int(l, I1, zero_is_poison)}, 2);
}

/* A zero source leaves the destination as it was: AMD says so, Intel's CPUs do so. */
void bit_scan(Lifter *l, const Insn *in, bool forward) {
    Val v = operand(l, in, 1), old = operand(l, in, 0);
    Val zero = ir_is_zero(l, v);
    Val n = count_zeros(l, forward ? "llvm.cttz" : "llvm.ctlz", v, true);
    if (!forward)
        n = ir_xor(l, n, ir_int(l, ir_ty(v), width(in, 0) - 1));
    /* 32-bit forms keep all 64 bits of the destination when the source is zero. */
    if (width(in, 0) == 32)
        reg_write(l, in->op[0].no, ir_select(l, zero, reg_read(l, in->op[0].no, I64), ir_zext(l, n, I64)));
    else
        set_operand(l, in, 0, ir_select(l, zero, old, n));
    set_flag(l, ZF, zero);
}

void count_bits(Lifter *l, const Insn *in, const char *intrinsic) {
    Val v = operand(l, in, 1), n = count_zeros(l, intrinsic, v, false);
    set_operand(l, in, 0, n);
    set_flag(l, CF, ir_is_zero(l, v));
    set_flag(l, ZF, ir_is_zero(l, n));
}

void population(Lifter *l, const Insn *in) {
    Val v = operand(l, in, 1);
    set_operand(l, in, 0, ir_unary(l, "llvm.ctpop", v));
    set_flag(l, ZF, ir_is_zero(l, v));
}

/* ------------------------------------------------------------------------------------------------------------------ BMI */

void and_not(Lifter *l, const Insn *in) {
    Val r = ir_and(l, ir_not(l, operand(l, in, 1)), operand(l, in, 2));
    set_operand(l, in, 0, r);
    flags_logic(l, r, SET_CF | SET_ZF | SET_SF | SET_OF);
}

void lowest_bit(Lifter *l, const Insn *in, LowBit op) {
    Val v = operand(l, in, 1), less = ir_add_to(l, v, -1), zero = ir_is_zero(l, v), r = NULL;
    switch (op) {
    case LOWEST_ONLY:
        r = ir_and(l, v, ir_neg(l, v));
        break;
    case LOWEST_MASK:
        r = ir_xor(l, v, less);
        break;
    case LOWEST_RESET:
        r = ir_and(l, v, less);
        break;
    }
    set_operand(l, in, 0, r);
    flags_logic(l, r, SET_ZF | SET_SF | SET_OF);
    set_flag(l, CF, op == LOWEST_ONLY ? ir_not(l, zero) : zero);
}

/* The low n bits of v; n may be the width or more. */
static Val low_bits(Lifter *l, Val v, Val n) {
    Ty t = ir_ty(v);
    Val all = ir_icmp(l, UGE, n, ir_int(l, t, ty_bits(t)));
    Val mask = ir_not(l, ir_shl(l, ir_ones(l, t), ir_select(l, all, ir_zero(l, t), n)));
    return ir_select(l, all, v, ir_and(l, v, mask));
}

/* bextr: start in bits 0–7 of the control operand, length in bits 8–15. */
void bit_extract(Lifter *l, const Insn *in) {
    Val v = operand(l, in, 1), control = operand(l, in, 2);
    Ty t = ir_ty(v);
    Val start = ir_and_with(l, control, 0xff), length = ir_and_with(l, ir_lshr_by(l, control, 8), 0xff);
    Val beyond = ir_icmp(l, UGE, start, ir_int(l, t, ty_bits(t)));
    Val low = ir_lshr(l, v, ir_select(l, beyond, ir_zero(l, t), start));
    Val r = low_bits(l, ir_select(l, beyond, ir_zero(l, t), low), length);
    set_operand(l, in, 0, r);
    flags_logic(l, r, SET_CF | SET_ZF | SET_OF);
}

void zero_high_bits(Lifter *l, const Insn *in) {
    Val v = operand(l, in, 1), n = ir_and_with(l, operand(l, in, 2), 0xff);
    Val r = low_bits(l, v, n);
    set_operand(l, in, 0, r);
    flags_logic(l, r, SET_ZF | SET_SF | SET_OF);
    set_flag(l, CF, ir_icmp(l, UGE, n, ir_int(l, ir_ty(v), width(in, 0))));
}

void bit_deposit(Lifter *l, const Insn *in, bool deposit) {
    Val args[] = {operand(l, in, 1), operand(l, in, 2)};
    Val r = x86_form(l, in, args, 2);
    if (!r) {
        Val wide[] = {ir_zext(l, args[0], I64), ir_zext(l, args[1], I64)};
        r = ir_trunc(l, ir_helper(l, deposit ? "lathe_x86_pdep" : "lathe_x86_pext", I64, wide, 2), ir_ty(args[0]));
    }
    set_operand(l, in, 0, r);
}
