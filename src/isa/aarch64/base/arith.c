/* arith.c: integer arithmetic, logic, shifts, conditional selection. Nothing traps: division by zero and overflow have results. */
#include "isa/aarch64/families.h"

/* ----------------------------------------------------------------------------------------------------------- operands */

Val a64_shifted(Lifter *l, Val v, A64Shift kind, Val count) {
    switch (kind) {
    case A64_LSL:
        return ir_shl(l, v, count);
    case A64_LSR:
        return ir_lshr(l, v, count);
    case A64_ASR:
        return ir_ashr(l, v, count);
    case A64_ROR:
        return ir_fshr(l, v, v, count);
    }
    CHECK(false, "a shift of unknown kind");
}

/* The low bits of register operand 2, extended by the option in bits 15–13. */
static Val extended(Lifter *l, const Insn *in, Ty t) {
    static const Ty from[] = {I8, I16, I32, I64};
    u32 option = a64_bits(in->word, 15, 13);
    Ty part = from[option & 3];
    if (ty_bits(part) >= ty_bits(t))
        return a64_int(l, in, 2, t);
    Val v = a64_int(l, in, 2, part);
    return option & 4 ? ir_sext(l, v, t) : ir_zext(l, v, t);
}

/* The second source: an immediate, or a register that is shifted or extended by the operand behind it. */
static Val second(Lifter *l, const Insn *in, Ty t) {
    if (in->op[2].kind == OPERAND_IMM)
        return a64_int(l, in, 2, t);
    bool is_extended = in->row == A64_ROW_add_ext || in->row == A64_ROW_adds_ext || in->row == A64_ROW_sub_ext ||
                       in->row == A64_ROW_subs_ext;
    Val v = is_extended ? extended(l, in, t) : a64_int(l, in, 2, t);
    if (!in->op[3].disp)
        return v;
    return a64_shifted(l, v, is_extended ? A64_LSL : (A64Shift)a64_bits(in->word, 23, 22), a64_int(l, in, 3, t));
}

/* ------------------------------------------------------------------------------------------------- add and subtract */

void a64_address_of(Lifter *l, const Insn *in) {
    a64_set(l, in, 0, pc_pointer(l, a64_imm(in, 1)));
}

static bool is_register(const Insn *in, int i) {
    return in->op[i].kind == OPERAND_REG && in->op[i].no != A64_ZERO;
}

/* Copies, which add zero: the register's value goes along with all its types. */
static bool copies(Lifter *l, const Insn *in) {
    if (in->op[2].kind != OPERAND_IMM || in->op[2].disp || in->op[0].bits != 64)
        return false;
    reg_copy(l, in->op[0].no, in->op[1].no);
    return true;
}

/* Where the first source is at hand as a pointer, the sum is one; likewise the second, of a sum. */
static bool adds_to_pointer(Lifter *l, const Insn *in, bool subtracts) {
    if (in->op[0].bits != 64)
        return false;
    if (is_register(in, 1) && reg_has(l, in->op[1].no, PTR) && in->op[2].kind == OPERAND_IMM) {
        Val p = reg_read(l, in->op[1].no, PTR);
        a64_set(l, in, 0, ir_offset(l, p, subtracts ? -in->op[2].disp : in->op[2].disp));
        return true;
    }
    if (subtracts || !is_register(in, 1) || !is_register(in, 2))
        return false;
    if (reg_has(l, in->op[1].no, PTR)) {
        a64_set(l, in, 0, ir_index(l, reg_read(l, in->op[1].no, PTR), second(l, in, I64), 1));
        return true;
    }
    if (in->op[3].disp || !reg_has(l, in->op[2].no, PTR) || in->row == A64_ROW_add_ext)
        return false;
    a64_set(l, in, 0, ir_index(l, reg_read(l, in->op[2].no, PTR), a64_x(l, in, 1), 1));
    return true;
}

void a64_add(Lifter *l, const Insn *in) {
    Ty t = a64_ty(in, 0);
    if (copies(l, in) || adds_to_pointer(l, in, false))
        return;
    a64_set(l, in, 0, ir_add(l, a64_int(l, in, 1, t), second(l, in, t)));
}

void a64_sub(Lifter *l, const Insn *in) {
    Ty t = a64_ty(in, 0);
    if (copies(l, in) || adds_to_pointer(l, in, true))
        return;
    a64_set(l, in, 0, ir_sub(l, a64_int(l, in, 1, t), second(l, in, t)));
}

void a64_adds(Lifter *l, const Insn *in) {
    Ty t = a64_ty(in, 0);
    Val a = a64_int(l, in, 1, t), b = second(l, in, t), r = ir_add(l, a, b);
    a64_set(l, in, 0, r);
    a64_flags_add(l, a, b, r, NULL);
}

void a64_subs(Lifter *l, const Insn *in) {
    Ty t = a64_ty(in, 0);
    Val a = a64_int(l, in, 1, t), b = second(l, in, t), r = ir_sub(l, a, b);
    a64_set(l, in, 0, r);
    a64_flags_sub(l, a, b, r, NULL);
}

/* The carry flag is that of a borrow inverted. */
void a64_add_carry(Lifter *l, const Insn *in, bool subtracts, bool sets) {
    Ty t = a64_ty(in, 0);
    Val a = a64_x(l, in, 1), b = a64_x(l, in, 2), before = a64_flag(l, A64_C), first, second_carry;
    Val more = ir_zext(l, subtracts ? ir_not(l, before) : before, t);
    Op op = subtracts ? SUB : ADD;
    Val r = ir_op_carry(l, op, ir_op_carry(l, op, a, b, &first), more, &second_carry),
        carry = ir_or(l, first, second_carry);
    a64_set(l, in, 0, r);
    if (sets)
        a64_flags_carry(l, a, b, r, subtracts ? ir_not(l, carry) : carry, subtracts);
}

/* --------------------------------------------------------------------------------------------------------------- logic */

/* orr with zero: a move. */
static bool moves(Lifter *l, const Insn *in, Op op, bool inverts) {
    bool is_move = op == OR && !inverts && in->op[1].no == A64_ZERO && is_register(in, 2) && is_register(in, 0) &&
                   !in->op[3].disp && in->op[0].bits == 64;
    if (is_move)
        reg_copy(l, in->op[0].no, in->op[2].no);
    return is_move;
}

static Val combined(Lifter *l, const Insn *in, Op op, bool inverts) {
    Ty t = a64_ty(in, 0);
    Val a = a64_int(l, in, 1, t), b = second(l, in, t);
    return ir_op(l, op, a, inverts ? ir_not(l, b) : b);
}

void a64_logic(Lifter *l, const Insn *in, Op op, bool inverts) {
    if (!moves(l, in, op, inverts))
        a64_set(l, in, 0, combined(l, in, op, inverts));
}

void a64_ands(Lifter *l, const Insn *in, bool inverts) {
    Val r = combined(l, in, AND, inverts);
    a64_set(l, in, 0, r);
    a64_flags_logic(l, r);
}

/* ----------------------------------------------------------------------------------------------------------- constants */

void a64_move(Lifter *l, const Insn *in) {
    a64_set(l, in, 0, a64_int(l, in, 1, a64_ty(in, 0)));
}

void a64_move_keep(Lifter *l, const Insn *in) {
    Ty t = a64_ty(in, 0);
    u32 at = (u32)a64_imm(in, 2);
    Val kept = ir_and_with(l, a64_x(l, in, 0), ~((u64)0xffff << at));
    a64_set(l, in, 0, ir_or(l, kept, ir_shl_by(l, a64_int(l, in, 1, t), at)));
}

/* -------------------------------------------------------------------------------------------------------------- shifts */

/* Counts are taken modulo the width. */
void a64_shift(Lifter *l, const Insn *in, A64Shift kind) {
    Val a = a64_x(l, in, 1), n = ir_and_with(l, a64_x(l, in, 2), in->op[0].bits - 1u);
    a64_set(l, in, 0, a64_shifted(l, a, kind, n));
}

void a64_extract(Lifter *l, const Insn *in) {
    Val high = a64_x(l, in, 1), low = a64_x(l, in, 2);
    a64_set(l, in, 0, ir_fshr(l, high, low, a64_int(l, in, 3, a64_ty(in, 0))));
}

/* ------------------------------------------------------------------------------------------- multiplication and division */

void a64_multiply_add(Lifter *l, const Insn *in, Op op) {
    Val product = ir_mul(l, a64_x(l, in, 1), a64_x(l, in, 2));
    if (in->op[3].no == A64_ZERO && op == ADD)
        a64_set(l, in, 0, product);
    else
        a64_set(l, in, 0, ir_op(l, op, a64_x(l, in, 3), product));
}

static Val wide(Lifter *l, Val v, Ty t, bool is_signed) {
    return is_signed ? ir_sext(l, v, t) : ir_zext(l, v, t);
}

void a64_multiply_long(Lifter *l, const Insn *in, Op op, bool is_signed) {
    Val a = wide(l, a64_x(l, in, 1), I64, is_signed), b = wide(l, a64_x(l, in, 2), I64, is_signed);
    a64_set(l, in, 0, ir_op(l, op, a64_x(l, in, 3), ir_mul(l, a, b)));
}

void a64_multiply_high(Lifter *l, const Insn *in, bool is_signed) {
    Val a = wide(l, a64_x(l, in, 1), I128, is_signed), b = wide(l, a64_x(l, in, 2), I128, is_signed);
    a64_set(l, in, 0, ir_trunc(l, ir_lshr_by(l, ir_mul(l, a, b), 64), I64));
}

/* The quotient by zero is zero. The least number by -1 is itself: as by 1. */
void a64_divide(Lifter *l, const Insn *in, bool is_signed) {
    Ty t = a64_ty(in, 0);
    Val a = a64_x(l, in, 1), b = a64_x(l, in, 2), by_zero = ir_is_zero(l, b), hard = by_zero;
    if (is_signed) {
        Val least = ir_icmp(l, EQ, a, ir_int(l, t, (u64)1 << (ty_bits(t) - 1)));
        hard = ir_or(l, by_zero, ir_and(l, least, ir_icmp(l, EQ, b, ir_ones(l, t))));
    }
    Val by = ir_select(l, hard, ir_int(l, t, 1), b), r = is_signed ? ir_sdiv(l, a, by) : ir_udiv(l, a, by);
    a64_set(l, in, 0, ir_select(l, by_zero, ir_zero(l, t), r));
}

/* ---------------------------------------------------------------------------------------------------------- conditions */

void a64_select(Lifter *l, const Insn *in, A64Select kind) {
    Ty t = a64_ty(in, 0);
    Val cond = a64_condition(l, (A64Cond)a64_imm(in, 3)), yes = a64_x(l, in, 1), no = a64_x(l, in, 2);
    switch (kind) {
    case A64_SELECT:
        break;
    case A64_SELECT_PLUS_ONE:
        no = ir_add(l, no, ir_int(l, t, 1));
        break;
    case A64_SELECT_NOT:
        no = ir_not(l, no);
        break;
    case A64_SELECT_MINUS:
        no = ir_neg(l, no);
        break;
    }
    a64_set(l, in, 0, ir_select(l, cond, yes, no));
}

/* Compares if the condition holds, and else sets the flags as the instruction says. */
void a64_compare_if(Lifter *l, const Insn *in, Op op) {
    A64Cond c = (A64Cond)a64_imm(in, 3);
    Ty t = a64_ty(in, 0);
    A64If only = {c >= A64_AL ? NULL : a64_condition(l, c), (u32)a64_imm(in, 2)};
    Val a = a64_x(l, in, 0), b = a64_int(l, in, 1, t), r = ir_op(l, op, a, b);
    if (op == ADD)
        a64_flags_add(l, a, b, r, &only);
    else
        a64_flags_sub(l, a, b, r, &only);
}
