/* form.c: the form of a riscv64 instruction; see isa/form.h. */
#include "isa/form.h"

#include "isa/riscv64/csr.h"
#include "isa/riscv64/format.h"

Reg form_register(const Operand *op) {
    if (op->kind == OPERAND_MEM)
        return op->base == RV_X0 ? REG_NONE : op->base;
    if (op->kind != OPERAND_REG)
        return REG_NONE;
    if (op->cls == RV_CLS_F)
        return (Reg)(RV_F0 + op->no);
    return op->no == RV_X0 ? REG_NONE : op->no;
}

bool form_may_be_held(Reg r) {
    return r < RV_F0 + 32;
}

u32 form_place(const Operand *op) {
    Reg r = form_register(op);
    return (u32)(r >= RV_F0 ? offsetof(LatheRiscv64Cpu, f) + 8 * (r - RV_F0) : offsetof(LatheRiscv64Cpu, x) + 8 * r);
}

/* Floats are read before one is written, and may be the same unknown to anybody; but where the sign of one goes to another, it is a move if they are. */
static bool may_be_same(const Insn *in, u32 a, u32 b) {
    return form_register(&in->op[b]) < RV_F0 || (a && rv_row(in->row)->format == RV_FMT_FFF);
}

/* 0: none; else the number, from 1, of the first operand that is the same. */
static u32 register_code(const Insn *in, u32 i) {
    Reg r = form_register(&in->op[i]);
    if (r == REG_NONE)
        return 0;
    for (u32 k = 0; k < i; k++)
        if (form_register(&in->op[k]) == r && may_be_same(in, k, i))
            return k + 1;
    return i + 1;
}

static bool is_target(const Insn *in, u32 i) {
    return (in->row == RV_ROW_jal && i == 1) || (in->flow == FLOW_BRANCH && i == 2);
}

static u32 operand_code(const Insn *in, u32 i) {
    const Operand *op = &in->op[i];
    bool other = (op->kind == OPERAND_IMM || op->kind == OPERAND_MEM) && op->disp && !is_target(in, i);
    return register_code(in, i) | (u32)other << 3;
}

/* What cannot be known later: counts of shifts, of which the host's instructions want a byte, numbers of registers and of constants. */
static bool is_literal(const Insn *in, u32 i) {
    u8 format = rv_row(in->row)->format;
    switch (in->row) {
    case RV_ROW_slli:
    case RV_ROW_srli:
    case RV_ROW_srai:
    case RV_ROW_slliw:
    case RV_ROW_srliw:
    case RV_ROW_sraiw:
    case RV_ROW_slli_uw:
        return i == 2;
    default:
        return i == 1 && (format == RV_FMT_CSR || format == RV_FMT_CSRI || format == RV_FMT_FI);
    }
}

FormImmediate form_immediate(const Insn *in, u32 i) {
    return is_literal(in, i) ? FORM_LITERAL : FORM_SIGNED;
}

bool form_is_dead(const Insn *in, Reg r) {
    return (void)in, (void)r, false;
}

const bool form_leaves_flags = false;

bool form_may_leave_flags(const Insn *in) {
    return (void)in, false;
}

void form_leave_flags(Insn *in) {
    (void)in;
}

bool form_is_rare(const Insn *in) {
    return (void)in, false;
}

bool form_is_absolute(const Insn *in, u32 i) {
    return (void)in, (void)i, false;
}

/* All registers that there are not are one. */
static u32 literal(const Insn *in) {
    enum { NO_CSR = 0xfff };
    u8 format = rv_row(in->row)->format;
    if ((format == RV_FMT_CSR || format == RV_FMT_CSRI) && !rv_csr_is_legal(in))
        return NO_CSR;
    for (u32 i = 1; i < in->operand_count; i++)
        if (is_literal(in, i))
            return (u32)rv_imm(in, (int)i);
    return 0;
}

/* What meanings take from the word itself: the order of atomic accesses and fences, and rounding modes. */
static u32 modifier(const Insn *in) {
    u32 w = in->word;
    switch (rv_row(in->row)->format) {
    case RV_FMT_LR:
    case RV_FMT_AMO:
        return w >> 25 & 3;
    case RV_FMT_FENCE:
        return (w >> 24 & 3) | (w >> 20 & 3) << 2 | (u32)(w >> 28 == 8) << 4;
    case RV_FMT_FF_RM:
    case RV_FMT_FFF_RM:
    case RV_FMT_FFFF_RM:
    case RV_FMT_XF_RM:
    case RV_FMT_FX_RM:
        return rv_rounding(in);
    default:
        return in->flow;
    }
}

LatheStatus form_decode(const u8 *bytes, size_t size, u64 pc, Insn *in) {
    return rv_decode(bytes, size, pc, in);
}

u64 form_key(const Insn *in) {
    u64 key = in->row;
    for (u32 i = 0; i < INSN_OPERANDS; i++)
        key = key << 4 | (i < in->operand_count ? operand_code(in, i) : 0);
    return (key << 12 | literal(in)) << 5 | modifier(in);
}
