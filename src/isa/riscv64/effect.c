/* effect.c: what riscv64 instructions do, for those who look for jump tables. */
#include "isa/riscv64/riscv64.h"

static Effect constant(Effect e, u64 value) {
    e.kind = EFFECT_CONSTANT;
    e.value = (i64)value;
    return e;
}

/* x0 is no register but zero. */
static Effect add(Effect e, Reg a, i64 value) {
    if (a == RV_X0)
        return constant(e, (u64)value);
    e.kind = EFFECT_ADD;
    e.a = a;
    e.value = value;
    return e;
}

/* Of b, so many low bits. */
static Effect sum(Effect e, Reg a, Reg b, u32 shift, u32 from_bits) {
    if (b == RV_X0)
        return add(e, a, 0);
    if (a == RV_X0 && !shift && from_bits == 64)
        return add(e, b, 0);
    e.kind = EFFECT_SUM;
    e.from_bits = (u8)from_bits;
    e.a = a == RV_X0 ? REG_NONE : a;
    e.b = b;
    e.shift = (u8)shift;
    return e;
}

static Effect of_one(Effect e, EffectKind kind, const Insn *in) {
    e.kind = (u8)kind;
    e.a = in->op[1].no;
    e.shift = (u8)(in->op[2].disp & 63);
    e.value = in->op[2].disp;
    return e;
}

static Effect extend(Effect e, const Insn *in, u32 from_bits, bool is_signed) {
    e.kind = EFFECT_EXTEND;
    e.a = in->op[1].no;
    e.from_bits = (u8)from_bits;
    e.is_signed = is_signed;
    return e;
}

static Effect load(Effect e, const Insn *in, u32 from_bits, bool is_signed) {
    e.kind = EFFECT_LOAD;
    e.from_bits = (u8)from_bits;
    e.is_signed = is_signed;
    e.mem = &in->op[1];
    return e;
}

static Effect compare(const Operand *left, const Operand *right) {
    static const Operand zero = {.kind = OPERAND_IMM};
    return (Effect){
        .kind = EFFECT_COMPARE,
        .bits = 64,
        .left = left->no == RV_X0 ? &zero : left,
        .right = right->no == RV_X0 ? &zero : right,
    };
}

/* A result of 32 bits is sign-extended. */
static Effect word(Effect e) {
    e.bits = 32;
    e.is_signed = true;
    return e;
}

// clang-format off
Effect rv_effect(const Insn *in) {
    const Operand *op = in->op;
    Effect e = {.bits = 64, .to = op[0].no, .a = REG_NONE, .b = REG_NONE};
    switch (in->row) {
    case RV_ROW_lui: return constant(e, rv_imm(in, 1));
    case RV_ROW_auipc: return constant(e, in->pc + rv_imm(in, 1));
    case RV_ROW_addi: return add(e, op[1].no, op[2].disp);
    case RV_ROW_addiw: return op[2].disp ? add(word(e), op[1].no, op[2].disp) : extend(e, in, 32, true);
    case RV_ROW_add: return sum(e, op[1].no, op[2].no, 0, 64);
    case RV_ROW_sh1add: return sum(e, op[2].no, op[1].no, 1, 64);
    case RV_ROW_sh1add_uw: return sum(e, op[2].no, op[1].no, 1, 32);
    case RV_ROW_sh2add: return sum(e, op[2].no, op[1].no, 2, 64);
    case RV_ROW_sh2add_uw: return sum(e, op[2].no, op[1].no, 2, 32);
    case RV_ROW_sh3add: return sum(e, op[2].no, op[1].no, 3, 64);
    case RV_ROW_sh3add_uw: return sum(e, op[2].no, op[1].no, 3, 32);
    case RV_ROW_add_uw: return op[2].no == RV_X0 ? extend(e, in, 32, false) : (Effect){0};
    case RV_ROW_zext_h: return extend(e, in, 16, false);
    case RV_ROW_sext_h: return extend(e, in, 16, true);
    case RV_ROW_sext_b: return extend(e, in, 8, true);
    case RV_ROW_slli: return of_one(e, EFFECT_SHIFT_LEFT, in);
    case RV_ROW_slli_uw: return sum(e, RV_X0, op[1].no, (u32)rv_imm(in, 2), 32);
    case RV_ROW_srli: return of_one(e, EFFECT_SHIFT_RIGHT, in);
    case RV_ROW_srliw: return of_one(word(e), EFFECT_SHIFT_RIGHT, in);
    case RV_ROW_andi: return of_one(e, EFFECT_AND, in);
    case RV_ROW_lb: return load(e, in, 8, true);
    case RV_ROW_lbu: return load(e, in, 8, false);
    case RV_ROW_lh: return load(e, in, 16, true);
    case RV_ROW_lhu: return load(e, in, 16, false);
    case RV_ROW_lw: return load(e, in, 32, true);
    case RV_ROW_lwu: return load(e, in, 32, false);
    case RV_ROW_ld: return load(e, in, 64, false);
    case RV_ROW_sb:
    case RV_ROW_sh:
    case RV_ROW_sw:
    case RV_ROW_sd:
        return (Effect){.kind = EFFECT_STORE, .mem = &op[1], .a = op[0].no == RV_X0 ? REG_NONE : op[0].no};
    case RV_ROW_jalr: return in->flow == FLOW_INDIRECT ? add((Effect){.bits = 64, .to = REG_NONE}, op[1].no, op[2].disp) : (Effect){0};
    case RV_ROW_beq:
    case RV_ROW_bne:
    case RV_ROW_blt:
    case RV_ROW_bge:
    case RV_ROW_bltu:
    case RV_ROW_bgeu: return compare(&op[0], &op[1]);
    default: return (Effect){0};
    }
}
// clang-format on

bool rv_condition(const Insn *branch, Reg *flags, Pred *taken) {
    *flags = REG_NONE;
    switch (branch->row) {
    case RV_ROW_beq:
        *taken = EQ;
        return true;
    case RV_ROW_bne:
        *taken = NE;
        return true;
    case RV_ROW_blt:
        *taken = SLT;
        return true;
    case RV_ROW_bge:
        *taken = SGE;
        return true;
    case RV_ROW_bltu:
        *taken = ULT;
        return true;
    case RV_ROW_bgeu:
        *taken = UGE;
        return true;
    default:
        return false;
    }
}
