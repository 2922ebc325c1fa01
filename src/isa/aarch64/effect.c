/* effect.c: what aarch64 instructions do, for those who look for jump tables. */
#include "isa/aarch64/field.h"

/* What is narrower than 64 bits is zero-extended. */
static Effect begin(const Insn *in) {
    return (Effect){.bits = (u8)in->op[0].bits, .to = in->op[0].no, .a = REG_NONE, .b = REG_NONE};
}

static Effect constant(const Insn *in, u64 value) {
    Effect e = begin(in);
    e.kind = EFFECT_CONSTANT;
    e.value = (i64)value;
    return e;
}

static Effect add(const Insn *in, Reg a, i64 value) {
    Effect e = begin(in);
    if (a == A64_ZERO)
        return constant(in, (u64)value);
    e.kind = EFFECT_ADD;
    e.a = a;
    e.value = value;
    return e;
}

/* op1 + (op2 << shift), of whose second addend so many low bits count. */
static Effect sum(const Insn *in, u32 from_bits, bool is_signed) {
    const Operand *op = in->op;
    if (op[2].no == A64_ZERO)
        return add(in, op[1].no, 0);
    if (op[0].bits != 64)
        return (Effect){0};
    Effect e = begin(in);
    e.kind = EFFECT_SUM;
    e.a = op[1].no == A64_ZERO ? REG_NONE : op[1].no;
    e.b = op[2].no;
    e.shift = (u8)op[3].disp;
    e.from_bits = (u8)from_bits;
    e.is_signed = is_signed;
    return e;
}

static Effect of_register(const Insn *in) {
    bool left = !a64_bits(in->word, 23, 22) || !in->op[3].disp;
    return left ? sum(in, 64, false) : (Effect){0};
}

static Effect of_extended(const Insn *in) {
    u32 option = a64_bits(in->word, 15, 13);
    return sum(in, 8u << (option & 3), option & 4);
}

static Effect extend(const Insn *in, u32 from_bits, bool is_signed) {
    Effect e = begin(in);
    e.kind = EFFECT_EXTEND;
    e.a = in->op[1].no;
    e.from_bits = (u8)from_bits;
    e.is_signed = is_signed;
    return e;
}

static Effect shifted(const Insn *in, EffectKind kind, u32 count) {
    Effect e = begin(in);
    e.kind = (u8)kind;
    e.a = in->op[1].no;
    e.shift = (u8)count;
    return e;
}

/* ubfm and sbfm: extensions and shifts. */
static Effect of_bit_field(const Insn *in, bool is_signed) {
    u32 width = in->op[0].bits, r = (u32)a64_imm(in, 2), s = (u32)a64_imm(in, 3);
    if (in->op[1].no == A64_ZERO)
        return (Effect){0};
    if (!r)
        return extend(in, s + 1, is_signed);
    if (is_signed)
        return (Effect){0};
    if (s == width - 1)
        return shifted(in, EFFECT_SHIFT_RIGHT, r);
    return s + 1 == r && width == 64 ? shifted(in, EFFECT_SHIFT_LEFT, width - r) : (Effect){0};
}

static Effect of_and(const Insn *in) {
    Effect e = begin(in);
    e.kind = EFFECT_AND;
    e.a = in->op[1].no;
    e.value = in->op[2].disp;
    return in->op[1].no == A64_ZERO ? (Effect){0} : e;
}

/* Copies; those of 32 bits leave zeros above. */
static Effect of_or(const Insn *in) {
    const Operand *op = in->op;
    if (op[1].no != A64_ZERO || op[3].disp)
        return (Effect){0};
    if (op[2].no == A64_ZERO)
        return constant(in, 0);
    Effect e = begin(in);
    e.kind = op[0].bits == 64 ? EFFECT_ADD : EFFECT_EXTEND;
    e.from_bits = 32;
    e.a = op[2].no;
    return e;
}

static Effect load(const Insn *in, u32 from_bits, bool is_signed) {
    Effect e = begin(in);
    e.kind = EFFECT_LOAD;
    e.from_bits = (u8)from_bits;
    e.is_signed = is_signed;
    e.mem = &in->op[1];
    return e;
}

static Effect store(const Insn *in) {
    return (Effect){.kind = EFFECT_STORE, .mem = &in->op[1], .a = in->op[0].no == A64_ZERO ? REG_NONE : in->op[0].no};
}

/* What is subtracted is also compared. */
static Effect compare(const Insn *in, Effect e) {
    static const Operand zero = {.kind = OPERAND_IMM};
    const Operand *op = in->op;
    if (op[2].kind == OPERAND_REG && op[3].disp)
        return e;
    if (op[0].no == A64_ZERO)
        e = (Effect){.kind = EFFECT_COMPARE, .bits = (u8)op[0].bits};
    e.left = op[1].no == A64_ZERO ? &zero : &op[1];
    e.right = op[2].kind == OPERAND_REG && op[2].no == A64_ZERO ? &zero : &op[2];
    return e;
}

/* decode.c has what adding compares with behind the operands. */
static Effect compare_added(const Insn *in) {
    Effect e = add(in, in->op[1].no, in->op[2].disp);
    if (in->op[0].no == A64_ZERO)
        e = (Effect){.kind = EFFECT_COMPARE, .bits = (u8)in->op[0].bits};
    if (in->op[1].no == A64_ZERO)
        return e;
    e.left = &in->op[1];
    e.right = &in->op[3];
    return e;
}

static Effect compare_zero(const Insn *in) {
    static const Operand zero = {.kind = OPERAND_IMM};
    const Operand *op = in->op;
    return (Effect){
        .kind = EFFECT_COMPARE, .bits = (u8)op[0].bits, .left = op[0].no == A64_ZERO ? &zero : &op[0], .right = &zero};
}

// clang-format off
#define ADDRESSED(name, unscaled) case A64_ROW_##name##_imm: case A64_ROW_##unscaled: case A64_ROW_##name##_reg
Effect a64_effect(const Insn *in) {
    switch (in->row) {
    case A64_ROW_adr:
    case A64_ROW_adrp:
    case A64_ROW_movz:
    case A64_ROW_movn: return constant(in, a64_imm(in, 1));
    case A64_ROW_add_imm: return add(in, in->op[1].no, in->op[2].disp);
    case A64_ROW_sub_imm: return add(in, in->op[1].no, -in->op[2].disp);
    case A64_ROW_subs_imm: return compare(in, add(in, in->op[1].no, -in->op[2].disp));
    case A64_ROW_adds_imm: return compare_added(in);
    case A64_ROW_subs_reg: return compare(in, (Effect){0});
    case A64_ROW_add_reg: return of_register(in);
    case A64_ROW_add_ext: return of_extended(in);
    case A64_ROW_orr_reg: return of_or(in);
    case A64_ROW_and_imm: return of_and(in);
    case A64_ROW_ubfm: return of_bit_field(in, false);
    case A64_ROW_sbfm: return of_bit_field(in, true);
    ADDRESSED(ldrb, ldurb): return load(in, 8, false);
    ADDRESSED(ldrh, ldurh): return load(in, 16, false);
    ADDRESSED(ldr_w, ldur_w): return load(in, 32, false);
    ADDRESSED(ldr_x, ldur_x): return load(in, 64, false);
    ADDRESSED(ldrsb_w, ldursb_w):
    ADDRESSED(ldrsb_x, ldursb_x): return load(in, 8, true);
    ADDRESSED(ldrsh_w, ldursh_w):
    ADDRESSED(ldrsh_x, ldursh_x): return load(in, 16, true);
    ADDRESSED(ldrsw, ldursw): return load(in, 32, true);
    ADDRESSED(strb, sturb):
    ADDRESSED(strh, sturh):
    ADDRESSED(str_w, stur_w):
    ADDRESSED(str_x, stur_x): return store(in);
    case A64_ROW_br: return (Effect){.kind = EFFECT_ADD, .bits = 64, .to = REG_NONE, .a = in->op[0].no, .b = REG_NONE};
    case A64_ROW_cbz:
    case A64_ROW_cbnz: return compare_zero(in);
    default: return (Effect){0};
    }
}
// clang-format on

bool a64_branch_condition(const Insn *branch, Reg *flags, Pred *taken) {
    static const u8 pred[16] = {[A64_EQ] = EQ,  [A64_NE] = NE,  [A64_CS] = UGE, [A64_CC] = ULT, [A64_HI] = UGT,
                                [A64_LS] = ULE, [A64_GE] = SGE, [A64_LT] = SLT, [A64_GT] = SGT, [A64_LE] = SLE};
    switch (branch->row) {
    case A64_ROW_b_cond:
    case A64_ROW_bc_cond:
        *flags = A64_Z;
        *taken = (Pred)pred[a64_imm(branch, 1) & 15];
        return *taken;
    case A64_ROW_cbz:
    case A64_ROW_cbnz:
        *flags = REG_NONE;
        *taken = branch->row == A64_ROW_cbz ? EQ : NE;
        return true;
    default:
        return false;
    }
}
