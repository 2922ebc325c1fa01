/* decode.c: aarch64 words to Insn, by the table. */
#include "isa/aarch64/encoding.h"
#include "isa/aarch64/field.h"
#include "isa/aarch64/simd_field.h"
#include "isa/aarch64/system.h"

/* ------------------------------------------------------------------------------------------------------------ operands */

static Reg reg_of(const Operand *op) {
    return (Reg)(op->cls == A64_CLS_V ? A64_V0 + op->no : op->no);
}

static void add_flags(RegSet *set) {
    for (Reg f = A64_N; f <= A64_V; f++)
        regset_add(set, f);
}

static void note_registers(A64Field field, const Operand *op, Insn *in) {
    if (op->kind == OPERAND_REG && a64_use(field) != USE_READ && op->no != A64_ZERO)
        regset_add(&in->writes, reg_of(op));
    if (op->kind == OPERAND_REG && op->cls == A64_CLS_V)
        regset_add(&in->vectors, reg_of(op));
    if (a64_writes_back(field)) {
        in->prefixes |= A64_WRITES_BACK;
        regset_add(&in->writes, op->base);
    }
    if (field == COND || field == COND_LOW)
        add_flags(&in->flags);
}

/* Of a word of the row; false: it is no instruction. */
static bool set_operands(Insn *in) {
    for (const u8 *field = a64_fields[in->row]; *field; field++) {
        Operand *op = &in->op[in->operand_count];
        if (*field == SETS)
            add_flags(&in->writes);
        if (*field == READS)
            add_flags(&in->flags);
        if (!a64_is_operand((A64Field)*field))
            continue;
        CHECK(in->operand_count < INSN_OPERANDS, "an instruction of too many operands");
        if (!a64_field(in->word, (A64Field)*field, in->pc, op))
            return false;
        in->operand_count++;
        note_registers((A64Field)*field, op, in);
    }
    a64_simd_registers(in);
    return true;
}

/* Adding a constant sets C and Z as subtracting its opposite does: effect.c says that it compares with that. */
static void note_comparison(Insn *in) {
    if (in->row == A64_ROW_adds_imm)
        in->op[3] = a64_imm_operand(-in->op[2].disp);
}

/* What the two numbers of a bit field say, behind the operands: A64_BIT_FIELD_UP and so on. The manual, SBFM: with s >= r bits s–r go to the bottom, else the lowest
 * s+1 go to width - r. */
static void note_bit_field(Insn *in) {
    if (in->row != A64_ROW_sbfm && in->row != A64_ROW_ubfm && in->row != A64_ROW_bfm)
        return;
    u32 width = in->op[0].bits, r = (u32)a64_imm(in, 2), s = (u32)a64_imm(in, 3), up = width - 1 - s;
    u32 down = s >= r ? up + r : r - s - 1;
    u64 all = width == 64 ? ~(u64)0 : UINT32_MAX;
    if (in->row == A64_ROW_bfm) {
        in->op[A64_BIT_FIELD_MASK] = a64_imm_operand((i64)((all << up & all) >> down));
        return;
    }
    in->op[A64_BIT_FIELD_UP] = a64_imm_operand(up);
    in->op[A64_BIT_FIELD_DOWN] = a64_imm_operand(down);
}

static void note_float_constant(Insn *in) {
    if (in->row == A64_ROW_fmov_imm)
        in->op[A64_FLOAT_BITS] = a64_imm_operand((i64)a64_float_immediate((u32)a64_imm(in, 1), in->op[0].bits));
}

static void note_vector_constant(Insn *in) {
    if (a64_fields[in->row][1] != IMM_I)
        return;
    u64 value = a64_imm(in, 1);
    for (u32 bits = in->op[0].scale; bits < 64; bits *= 2)
        value |= value << bits;
    bool inverts = in->row == A64_ROW_mvni_32 || in->row == A64_ROW_mvni_16 || in->row == A64_ROW_mvni_msl ||
                   in->row == A64_ROW_bic_32 || in->row == A64_ROW_bic_16;
    in->op[A64_VECTOR_BITS] = a64_imm_operand((i64)(inverts ? ~value : value));
}

/* -------------------------------------------------------------------------------------------------------- control flow */

static void go(Insn *in, Flow flow, int target) {
    in->flow = (u8)flow;
    in->target = target < 0 ? 0 : a64_imm(in, target);
}

static void set_flow(Insn *in) {
    switch (in->row) {
    case A64_ROW_b:
        go(in, FLOW_JUMP, 0);
        return;
    case A64_ROW_bl:
        go(in, FLOW_CALL, 0);
        regset_add(&in->writes, A64_LR);
        return;
    case A64_ROW_b_cond:
    case A64_ROW_bc_cond:
        go(in, a64_imm(in, 1) >= A64_AL ? FLOW_JUMP : FLOW_BRANCH, 0);
        return;
    case A64_ROW_cbz:
    case A64_ROW_cbnz:
        go(in, FLOW_BRANCH, 1);
        return;
    case A64_ROW_tbz:
    case A64_ROW_tbnz:
        go(in, FLOW_BRANCH, 2);
        return;
    case A64_ROW_cpyfm:
    case A64_ROW_cpyfe:
    case A64_ROW_cpym:
    case A64_ROW_cpye:
    case A64_ROW_setm:
    case A64_ROW_sete: /* until all is done */
        in->flow = FLOW_BRANCH;
        in->target = in->pc;
        return;
    case A64_ROW_br:
        go(in, FLOW_INDIRECT, -1);
        return;
    case A64_ROW_blr:
        go(in, FLOW_CALL, -1);
        regset_add(&in->writes, A64_LR);
        return;
    case A64_ROW_ret:
        go(in, FLOW_RETURN, -1);
        return;
    default:
        a64_set_system_flow(in);
        return;
    }
}

/* ------------------------------------------------------------------------------------------------------------- decoding */

LatheStatus a64_decode(const u8 *bytes, size_t size, u64 pc, Insn *in) {
    if (size < 4)
        return LATHE_ERR_MEMORY;
    memcpy(&in->word, bytes, 4);
    in->row = a64_find_row(in->word);
    in->pc = pc;
    in->size = 4;
    in->operand_bits = in->address_bits = 64;
    if (!in->row || !set_operands(in))
        return LATHE_ERR_DECODE;
    note_comparison(in);
    note_bit_field(in);
    note_float_constant(in);
    note_vector_constant(in);
    set_flow(in);
    return LATHE_OK;
}
