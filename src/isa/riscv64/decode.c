/* decode.c: riscv64 words to Insn, by the table. */
#include "isa/riscv64/csr.h"
#include "isa/riscv64/encoding.h"
#include "isa/riscv64/format.h"

static bool is_link(const Operand *op) {
    return op->no == RV_RA || op->no == RV_T0;
}

/* ------------------------------------------------------------------------------------------------------------ operands */

static void set_operands(const RvRow *row, Insn *in) {
    const u8 *fields = rv_formats[row->format];
    for (; *fields && *fields != ROUNDING; fields++)
        in->op[in->operand_count++] = rv_field(in->word, (RvField)*fields, in->pc);
}

static bool has_rounding(const RvRow *row) {
    const u8 *fields = rv_formats[row->format];
    while (*fields && *fields != ROUNDING)
        fields++;
    return *fields;
}

/* The manual, 13.2: 5 and 6 are reserved. */
static bool is_reserved(const RvRow *row, u32 word) {
    u32 mode = word >> 12 & 7;
    return has_rounding(row) && (mode == 5 || mode == 6);
}

static bool writes_first(const RvRow *base) {
    return base->format != RV_FMT_B && base->format != RV_FMT_STORE && base->format != RV_FMT_FSTORE;
}

static Reg reg_of(const Operand *op) {
    return (Reg)(op->cls == RV_CLS_F ? RV_F0 + op->no : op->no);
}

static void set_registers(const RvRow *base, Insn *in) {
    const Operand *first = &in->op[0];
    if (writes_first(base) && first->kind == OPERAND_REG && reg_of(first) != RV_X0)
        regset_add(&in->writes, reg_of(first));
    for (u32 i = 0; i < in->operand_count; i++)
        if (in->op[i].kind == OPERAND_REG && in->op[i].cls == RV_CLS_F)
            regset_add(&in->vectors, reg_of(&in->op[i]));
}

/* -------------------------------------------------------------------------------------------------------- control flow */

/* The manual, table 2.1: which jumps are calls and returns is told by the registers they use. */
static Flow flow_of_jump_register(const Insn *in) {
    if (is_link(&in->op[0]))
        return FLOW_CALL;
    return is_link(&in->op[1]) && in->op[0].no == RV_X0 ? FLOW_RETURN : FLOW_INDIRECT;
}

static void set_flow(Insn *in) {
    switch (in->row) {
    case RV_ROW_jal:
        in->flow = is_link(&in->op[0]) ? FLOW_CALL : FLOW_JUMP;
        in->target = rv_imm(in, 1);
        return;
    case RV_ROW_jalr:
        in->flow = flow_of_jump_register(in);
        return;
    case RV_ROW_beq:
    case RV_ROW_bne:
    case RV_ROW_blt:
    case RV_ROW_bge:
    case RV_ROW_bltu:
    case RV_ROW_bgeu:
        in->flow = FLOW_BRANCH;
        in->target = rv_imm(in, 2);
        return;
    case RV_ROW_fence_i:
        in->flow = FLOW_INDIRECT;
        break;
    case RV_ROW_ecall:
        in->flow = FLOW_SYSCALL;
        break;
    case RV_ROW_ebreak:
    case RV_ROW_c_unimp:
        in->flow = FLOW_STOP;
        break;
    case RV_ROW_csrrw:
    case RV_ROW_csrrs:
    case RV_ROW_csrrc:
    case RV_ROW_csrrwi:
    case RV_ROW_csrrsi:
    case RV_ROW_csrrci:
        in->flow = rv_csr_is_legal(in) ? FLOW_NEXT : FLOW_STOP;
        break;
    case RV_ROW_lr_w:
    case RV_ROW_lr_d:
        regset_add(&in->writes, RV_RESERVED_VALUE); /* fall through */
    case RV_ROW_sc_w:
    case RV_ROW_sc_d:
        regset_add(&in->writes, RV_RESERVED_ADDRESS);
        return;
    default:
        return;
    }
    in->special = true;
}

/* ------------------------------------------------------------------------------------------------------------- decoding */

static bool read_word(const u8 *bytes, size_t size, u32 *word) {
    u16 low, high = 0;
    if (size < 2)
        return false;
    memcpy(&low, bytes, 2);
    if (!rv_is_short(low) && size < 4)
        return false;
    if (!rv_is_short(low))
        memcpy(&high, bytes + 2, 2);
    *word = low | (u32)high << 16;
    return true;
}

static LatheStatus decode_one(const u8 *bytes, size_t size, u64 pc, Insn *in) {
    u32 word;
    if (!read_word(bytes, size, &word))
        return LATHE_ERR_MEMORY;
    u32 found = rv_find_row(word);
    const RvRow *row = rv_row(found);
    if (!found || is_reserved(row, word))
        return LATHE_ERR_DECODE;
    in->pc = pc;
    in->word = word;
    in->size = rv_is_short(word) ? 2 : 4;
    in->operand_bits = in->address_bits = 64;
    in->row = row->base;
    set_operands(row, in);
    set_registers(rv_row(row->base), in);
    set_flow(in);
    return LATHE_OK;
}

/* auipc and the jalr that goes on from it are how a far call or jump is written, and here one instruction: then its target
 * is known. Whoever jumps to the second one finds it. */
static void join_far_jump(const u8 *bytes, size_t size, Insn *in) {
    Insn next = {0};
    if (decode_one(bytes + in->size, size - in->size, insn_end(in), &next) != LATHE_OK || next.row != RV_ROW_jalr)
        return;
    if (next.op[1].no != in->op[0].no || in->op[0].no == RV_X0)
        return;
    in->target = (in->pc + rv_imm(in, 1) + rv_imm(&next, 2)) & ~(u64)1;
    in->row = RV_ROW_far;
    in->joined = 1;
    in->flow = next.flow == FLOW_CALL ? FLOW_CALL : FLOW_JUMP;
    in->size = (u8)(in->size + next.size);
    in->op[in->operand_count++] = next.op[0];
    if (next.op[0].no != RV_X0)
        regset_add(&in->writes, next.op[0].no);
}

static u32 quiet_row(u32 row) {
    switch (row) {
    case RV_ROW_flt_s:
        return RV_ROW_quiet_lt_s;
    case RV_ROW_fle_s:
        return RV_ROW_quiet_le_s;
    case RV_ROW_flt_d:
        return RV_ROW_quiet_lt_d;
    case RV_ROW_fle_d:
        return RV_ROW_quiet_le_d;
    default:
        return RV_ROW_NONE;
    }
}

/* frflags x; flt or fle; fsflags x, likewise. `in` is a read of fflags. */
static void join_quiet_compare(const u8 *bytes, size_t size, Insn *in) {
    Insn compare = {0}, back = {0};
    u8 flags = in->op[0].no;
    if (flags == RV_X0 || size < 12 || decode_one(bytes + 4, 4, in->pc + 4, &compare) != LATHE_OK ||
        !quiet_row(compare.row))
        return;
    if (compare.op[0].no == flags || decode_one(bytes + 8, 4, in->pc + 8, &back) != LATHE_OK ||
        back.row != RV_ROW_csrrw)
        return;
    if (back.op[0].no != RV_X0 || rv_imm(&back, 1) != RV_FFLAGS || back.op[2].no != flags)
        return;
    compare.op[compare.operand_count++] = in->op[0];
    regset_add(&compare.writes, flags);
    compare.row = quiet_row(compare.row);
    compare.pc = in->pc;
    compare.size = 12;
    *in = compare;
}

static bool reads_flags(const Insn *in) {
    return in->row == RV_ROW_csrrs && rv_imm(in, 1) == RV_FFLAGS && in->op[2].no == RV_X0;
}

LatheStatus rv_decode(const u8 *bytes, size_t size, u64 pc, Insn *in) {
    LatheStatus status = decode_one(bytes, size, pc, in);
    if (status == LATHE_OK && in->row == RV_ROW_auipc)
        join_far_jump(bytes, size, in);
    if (status == LATHE_OK && reads_flags(in))
        join_quiet_compare(bytes, size, in);
    return status;
}
