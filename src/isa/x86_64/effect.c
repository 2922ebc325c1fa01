/* effect.c: what x86-64 instructions do, for those who look for jump tables. */
#include <Zydis/Zydis.h>

#include "isa/x86_64/x86_64.h"

static bool is_gp(const Operand *op, u32 bits) {
    return op->kind == OPERAND_REG && op->cls == CLS_GP && !op->high && op->bits >= bits;
}

static u32 log2_of(u32 scale) {
    return (u32)__builtin_ctz(scale);
}

/* base + index * scale + disp, into e. */
static Effect sum_of_address(Effect e, const Operand *m) {
    if (m->addr_bits != 64 || m->kind != OPERAND_MEM || m->seg)
        return (Effect){0};
    e.value = m->disp;
    e.a = m->base;
    e.b = m->index;
    e.shift = (u8)log2_of(m->scale);
    e.from_bits = 64;
    e.kind = EFFECT_SUM;
    if (m->index == REG_NONE)
        e.kind = m->base == REG_PC ? EFFECT_CONSTANT : m->base == REG_NONE ? EFFECT_OTHER : EFFECT_ADD;
    else if (m->base == REG_PC)
        e.kind = EFFECT_OTHER;
    return e;
}

static Effect add(Effect e, i64 value) {
    e.kind = EFFECT_ADD;
    e.value = value;
    return e;
}

static Effect load(Effect e, const Operand *m, bool is_signed) {
    e.kind = EFFECT_LOAD;
    e.from_bits = (u8)m->bits;
    e.is_signed = is_signed;
    e.mem = m;
    return e;
}

static Effect move(Effect e, const Insn *in) {
    const Operand *to = &in->op[0], *from = &in->op[1];
    if (to->kind == OPERAND_MEM)
        return (Effect){.kind = EFFECT_STORE, .mem = to, .a = is_gp(from, 8) ? from->no : REG_NONE};
    if (from->kind == OPERAND_MEM)
        return load(e, from, false);
    e.value = from->disp;
    e.a = from->no;
    e.kind = from->kind == OPERAND_IMM ? EFFECT_CONSTANT : is_gp(from, 32) ? EFFECT_ADD : EFFECT_OTHER;
    if (e.kind == EFFECT_ADD)
        e.value = 0;
    return e;
}

static Effect extend(Effect e, const Operand *from, bool is_signed) {
    if (from->kind == OPERAND_MEM)
        return load(e, from, is_signed);
    e.kind = is_gp(from, 8) ? EFFECT_EXTEND : EFFECT_OTHER;
    e.from_bits = (u8)from->bits;
    e.is_signed = is_signed;
    e.a = from->no;
    return e;
}

static Effect by_immediate(Effect e, EffectKind kind, const Operand *by) {
    e.kind = by->kind == OPERAND_IMM ? kind : EFFECT_OTHER;
    e.value = by->disp;
    e.shift = (u8)(by->disp & 63);
    return e;
}

static Effect add_or_sum(Effect e, const Operand *by) {
    if (by->kind == OPERAND_IMM)
        return add(e, by->disp);
    e.kind = is_gp(by, 64) ? EFFECT_SUM : EFFECT_OTHER;
    e.b = by->no;
    e.from_bits = 64;
    return e;
}

/* A register that is combined with itself is zero. */
static Effect exclusive_or(Effect e, const Operand *to, const Operand *from) {
    e.kind = is_gp(to, 32) && is_gp(from, 32) && to->no == from->no ? EFFECT_CONSTANT : EFFECT_OTHER;
    return e;
}

/* Where a computed jump goes. */
static Effect jump_target(const Insn *in) {
    const Operand *to = &in->op[0];
    if (to->kind == OPERAND_MEM)
        return load((Effect){.bits = 64, .to = REG_NONE}, to, false);
    return (Effect){.kind = is_gp(to, 64) ? EFFECT_ADD : EFFECT_OTHER, .bits = 64, .to = REG_NONE, .a = to->no};
}

static Effect compare(Effect e, const Insn *in) {
    const Operand *left = &in->op[0], *right = &in->op[1];
    if (right->kind != OPERAND_IMM || (left->kind != OPERAND_MEM && !is_gp(left, 8)))
        return (Effect){0};
    e.left = left;
    e.right = right;
    return e;
}

/* Results of 32 bits clear the upper half; narrower ones keep the rest of the register. */
Effect x86_effect(const Insn *in) {
    const Operand *to = &in->op[0], *from = &in->op[1];
    Effect e = {.bits = (u8)to->bits, .to = to->no, .a = to->no, .b = REG_NONE};
    if (in->flow == FLOW_INDIRECT)
        return jump_target(in);
    if (in->row == ZYDIS_MNEMONIC_CDQE)
        return (Effect){.kind = EFFECT_EXTEND, .bits = 64, .from_bits = 32, .is_signed = true, .to = RAX, .a = RAX};
    if (in->row == ZYDIS_MNEMONIC_CMP)
        return compare((Effect){.kind = EFFECT_COMPARE, .bits = (u8)to->bits}, in);
    if (in->row == ZYDIS_MNEMONIC_MOV && to->kind == OPERAND_MEM)
        return move(e, in);
    if (in->flow != FLOW_NEXT || !is_gp(to, 8))
        return (Effect){0};
    switch (in->row) {
    case ZYDIS_MNEMONIC_MOV:
        return move(e, in);
    case ZYDIS_MNEMONIC_MOVZX:
        return extend(e, from, false);
    case ZYDIS_MNEMONIC_MOVSX:
    case ZYDIS_MNEMONIC_MOVSXD:
        return extend(e, from, true);
    case ZYDIS_MNEMONIC_LEA:
        return sum_of_address(e, from);
    case ZYDIS_MNEMONIC_ADD:
        return add_or_sum(e, from);
    case ZYDIS_MNEMONIC_SUB:
        return compare(add(e, -from->disp), in);
    case ZYDIS_MNEMONIC_INC:
        return add(e, 1);
    case ZYDIS_MNEMONIC_DEC:
        return add(e, -1);
    case ZYDIS_MNEMONIC_SHL:
        return by_immediate(e, EFFECT_SHIFT_LEFT, from);
    case ZYDIS_MNEMONIC_SHR:
        return by_immediate(e, EFFECT_SHIFT_RIGHT, from);
    case ZYDIS_MNEMONIC_AND:
        return by_immediate(e, EFFECT_AND, from);
    case ZYDIS_MNEMONIC_XOR:
        return exclusive_or(e, to, from);
    default:
        return (Effect){0};
    }
}

bool x86_condition(const Insn *branch, Reg *flags, Pred *taken) {
    *flags = ZF;
    switch (branch->row) {
    case ZYDIS_MNEMONIC_JNBE:
        *taken = UGT;
        return true;
    case ZYDIS_MNEMONIC_JNB:
        *taken = UGE;
        return true;
    case ZYDIS_MNEMONIC_JB:
        *taken = ULT;
        return true;
    case ZYDIS_MNEMONIC_JBE:
        *taken = ULE;
        return true;
    case ZYDIS_MNEMONIC_JNLE:
        *taken = SGT;
        return true;
    case ZYDIS_MNEMONIC_JNL:
        *taken = SGE;
        return true;
    case ZYDIS_MNEMONIC_JL:
        *taken = SLT;
        return true;
    case ZYDIS_MNEMONIC_JLE:
        *taken = SLE;
        return true;
    default:
        return false;
    }
}
