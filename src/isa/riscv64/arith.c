/* arith.c: integer arithmetic. Nothing traps: division by zero and overflow have results. */
#include "isa/riscv64/families.h"

void rv_load_upper(Lifter *l, const Insn *in) {
    rv_set(l, in, 0, rv_x(l, in, 1));
}

void rv_add_upper_pc(Lifter *l, const Insn *in) {
    rv_set(l, in, 0, pc_pointer(l, in->pc + rv_imm(in, 1)));
}

static bool is_at_hand_as_pointer(Lifter *l, const Insn *in, int i) {
    const Operand *op = &in->op[i];
    return op->kind == OPERAND_REG && op->no != RV_X0 && reg_has(l, op->no, PTR);
}

/* Where one of the addends is at hand as a pointer, the sum is one. */
static bool add_to_pointer(Lifter *l, const Insn *in) {
    int pointer = is_at_hand_as_pointer(l, in, 1) ? 1 : 2;
    if (!is_at_hand_as_pointer(l, in, pointer))
        return false;
    Val p = reg_read(l, in->op[pointer].no, PTR);
    if (in->op[2].kind == OPERAND_IMM)
        rv_set(l, in, 0, ir_offset(l, p, in->op[2].disp));
    else
        rv_set(l, in, 0, ir_index(l, p, rv_x(l, in, 3 - pointer), 1));
    return true;
}

static bool is_zero(const Insn *in, int i) {
    const Operand *op = &in->op[i];
    return op->kind == OPERAND_REG ? op->no == RV_X0 : op->disp == 0;
}

/* Copies, which add zero: the register's value goes along with all its types. */
static bool copy(Lifter *l, const Insn *in) {
    int from = is_zero(in, 1) ? 2 : 1;
    if (!is_zero(in, 3 - from) || in->op[from].kind != OPERAND_REG || is_zero(in, from) || is_zero(in, 0))
        return false;
    reg_copy(l, in->op[0].no, in->op[from].no);
    return true;
}

/* Is the operand visibly 32 bits, sign-extended? */
static bool is_half(Lifter *l, const Insn *in, int i) {
    return in->op[i].kind == OPERAND_IMM || in->op[i].no == RV_X0 || ir_is_sext(rv_x(l, in, i), I32);
}

void rv_arith(Lifter *l, const Insn *in, Op op, u32 bits) {
    if (op == ADD && bits == 64 && (copy(l, in) || add_to_pointer(l, in)))
        return;
    bool bitwise = op == AND || op == OR || op == XOR;
    Ty t = bitwise && is_half(l, in, 1) && is_half(l, in, 2) ? I32 : ty_int(bits);
    rv_set(l, in, 0, ir_op(l, op, rv_int(l, in, 1, t), rv_int(l, in, 2, t)));
}

/* Counts are taken modulo the width. */
void rv_shift(Lifter *l, const Insn *in, RvShift kind, u32 bits) {
    Ty t = ty_int(bits);
    Val a = rv_int(l, in, 1, t), n = ir_and_with(l, rv_int(l, in, 2, t), bits - 1), r = NULL;
    switch (kind) {
    case RV_SLL:
        r = ir_shl(l, a, n);
        break;
    case RV_SRL:
        r = ir_lshr(l, a, n);
        break;
    case RV_SRA:
        r = ir_ashr(l, a, n);
        break;
    case RV_ROL:
        r = ir_fshl(l, a, a, n);
        break;
    case RV_ROR:
        r = ir_fshr(l, a, a, n);
        break;
    }
    rv_set(l, in, 0, r);
}

void rv_set_if(Lifter *l, const Insn *in, Pred p) {
    rv_set(l, in, 0, ir_zext(l, ir_icmp(l, p, rv_x(l, in, 1), rv_x(l, in, 2)), I64));
}

static Val extend(Lifter *l, Val v, Ty t, bool is_signed) {
    return is_signed ? ir_sext(l, v, t) : ir_zext(l, v, t);
}

void rv_multiply_high(Lifter *l, const Insn *in, bool signed_a, bool signed_b) {
    Val a = extend(l, rv_x(l, in, 1), I128, signed_a), b = extend(l, rv_x(l, in, 2), I128, signed_b);
    rv_set(l, in, 0, ir_trunc(l, ir_lshr_by(l, ir_mul(l, a, b), 64), I64));
}

/* The quotient by zero is all ones, the remainder the dividend. The least number by -1 is itself, without a remainder: as
 * by 1. */
void rv_divide(Lifter *l, const Insn *in, RvDivide kind, u32 bits) {
    Ty t = ty_int(bits);
    Val a = rv_int(l, in, 1, t), b = rv_int(l, in, 2, t), by_zero = ir_is_zero(l, b), hard = by_zero;
    bool is_signed = kind == RV_DIV || kind == RV_REM;
    if (is_signed) {
        Val least = ir_icmp(l, EQ, a, ir_int(l, t, (u64)1 << (bits - 1)));
        hard = ir_or(l, by_zero, ir_and(l, least, ir_icmp(l, EQ, b, ir_ones(l, t))));
    }
    Val by = ir_select(l, hard, ir_int(l, t, 1), b), r = NULL;
    switch (kind) {
    case RV_DIV:
        r = ir_select(l, by_zero, ir_ones(l, t), ir_sdiv(l, a, by));
        break;
    case RV_DIVU:
        r = ir_select(l, by_zero, ir_ones(l, t), ir_udiv(l, a, by));
        break;
    case RV_REM:
        r = ir_select(l, by_zero, a, ir_srem(l, a, by));
        break;
    case RV_REMU:
        r = ir_select(l, by_zero, a, ir_urem(l, a, by));
        break;
    }
    rv_set(l, in, 0, r);
}
