/* text.c: instructions as text, from the table, in the manual's syntax. Compressed ones are written as what they stand for, and
 * the commonest of the assembler's other names are used. */
#include "isa/text.h"
#include "isa/riscv64/csr.h"
#include "isa/riscv64/encoding.h"
#include "isa/riscv64/format.h"

static const char *const x_names[32] = {"zero", "ra", "sp", "gp", "tp",  "t0",  "t1", "t2", "s0", "s1", "a0",
                                        "a1",   "a2", "a3", "a4", "a5",  "a6",  "a7", "s2", "s3", "s4", "s5",
                                        "s6",   "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6"};
static const char *const f_names[32] = {"ft0", "ft1", "ft2", "ft3", "ft4",  "ft5",  "ft6", "ft7", "fs0",  "fs1", "fa0",
                                        "fa1", "fa2", "fa3", "fa4", "fa5",  "fa6",  "fa7", "fs2", "fs3",  "fs4", "fs5",
                                        "fs6", "fs7", "fs8", "fs9", "fs10", "fs11", "ft8", "ft9", "ft10", "ft11"};
static const char *const rounding_names[8] = {"rne", "rtz", "rdn", "rup", "rmm", "?", "?", "dyn"};

/* ------------------------------------------------------------------------------------------------------------ operands */

static void put_register(Text *t, const Operand *op) {
    text_put(t, "%s", (op->cls == RV_CLS_F ? f_names : x_names)[op->no]);
}

static void put_csr(Text *t, u32 no) {
    const char *name = rv_csr_name(no);
    if (name)
        text_put(t, "%s", name);
    else
        text_put(t, "0x%x", no);
}

static void put_operand(Text *t, const Operand *op, RvField field) {
    text_separate(t);
    if (op->kind == OPERAND_REG)
        put_register(t, op);
    else if (op->kind == OPERAND_MEM && field == MEM_0)
        text_put(t, "(%s)", x_names[op->base]);
    else if (op->kind == OPERAND_MEM)
        text_put(t, "%lld(%s)", (long long)op->disp, x_names[op->base]);
    else if (field == TARGET_B || field == TARGET_J)
        text_put(t, "0x%llx", (unsigned long long)op->disp);
    else if (field == IMM_U)
        text_put(t, "0x%x", (u32)op->disp >> 12);
    else if (field == CSR_NO)
        put_csr(t, (u32)op->disp);
    else
        text_put(t, "%lld", (long long)op->disp);
}

/* A mode is written if it is fixed, except where the assembler fixes it and it does not matter. */
static void put_rounding(Text *t, const Insn *in) {
    if (rv_rounding(in) == RV_DYN)
        return;
    text_separate(t);
    text_put(t, "%s", rounding_names[rv_rounding(in)]);
}

static void put_access_set(Text *t, u32 set) {
    text_separate(t);
    text_put(t, "%s%s%s%s%s", set & 8 ? "i" : "", set & 4 ? "o" : "", set & 2 ? "r" : "", set & 1 ? "w" : "",
             set ? "" : "0");
}

/* --------------------------------------------------------------------------------------------------------- instructions */

static void put_name(Text *t, const Insn *in, u8 format) {
    bool ordered = format == RV_FMT_AMO || format == RV_FMT_LR;
    text_put(t, "%s", rv_names[in->row]);
    if (ordered && in->word & (3 << 25))
        text_put(t, ".%s%s", in->word & 1 << 26 ? "aq" : "", in->word & 1 << 25 ? "rl" : "");
}

static void put_plain(Text *t, const Insn *in) {
    u8 format = rv_row(in->row)->format;
    put_name(t, in, format);
    if (format == RV_FMT_FENCE && in->word >> 28 != 8) {
        put_access_set(t, in->word >> 24 & 15);
        put_access_set(t, in->word >> 20 & 15);
    } else if (format == RV_FMT_FENCE) {
        text_put(t, ".tso");
    } else if (format == RV_FMT_JR) {
        text_put(t, " %s, %lld(%s)", x_names[in->op[0].no], (long long)in->op[2].disp, x_names[in->op[1].no]);
    } else {
        for (u32 i = 0; i < in->operand_count; i++)
            put_operand(t, &in->op[i], (RvField)rv_formats[format][i]);
        if (rv_formats[format][in->operand_count] == ROUNDING)
            put_rounding(t, in);
    }
}

static bool is_zero(const Insn *in, int i) {
    return in->op[i].kind == OPERAND_REG ? in->op[i].no == RV_X0 : in->op[i].disp == 0;
}

/* Another name, with the operands that it has. */
static bool put_as(Text *t, const Insn *in, const char *name, int count, const int *which) {
    u8 format = rv_row(in->row)->format;
    text_put(t, "%s", name);
    for (int i = 0; i < count; i++)
        put_operand(t, &in->op[which[i]], (RvField)rv_formats[format][which[i]]);
    return true;
}
#define AS(name, ...) put_as(t, in, name, ARRAY_LEN(((int[]){__VA_ARGS__})), (int[]){__VA_ARGS__})

static bool put_jump_register(Text *t, const Insn *in) {
    if (!is_zero(in, 2))
        return false;
    if (in->flow == FLOW_RETURN && in->op[1].no == RV_RA)
        return put_as(t, in, "ret", 0, NULL);
    if (is_zero(in, 0))
        return AS("jr", 1);
    return in->op[0].no == RV_RA && AS("jalr", 1);
}

static bool put_far_jump(Text *t, const Insn *in) {
    text_put(t, "%s 0x%llx", in->flow == FLOW_CALL ? "call" : "tail", (unsigned long long)in->target);
    if (in->flow == FLOW_CALL ? in->op[0].no != RV_RA : in->op[0].no != RV_T0 + 1)
        text_put(t, ", %s", x_names[in->op[0].no]);
    return true;
}

static bool put_quiet_compare(Text *t, const Insn *in, const char *name) {
    text_put(t, "%s %s, %s, %s; frflags %s", name, x_names[in->op[0].no], f_names[in->op[1].no], f_names[in->op[2].no],
             x_names[in->op[3].no]);
    return true;
}

static bool put_sign_copy(Text *t, const Insn *in, const char *name) {
    return rv_same(in, 1, 2) && AS(name, 0, 1);
}

/* The assembler's other names; false: it has none for it. */
static bool put_alias(Text *t, const Insn *in) {
    switch (in->row) {
    case RV_ROW_addi:
        if (is_zero(in, 0) && is_zero(in, 1) && is_zero(in, 2))
            return put_as(t, in, "nop", 0, NULL);
        return is_zero(in, 1) ? AS("li", 0, 2) : is_zero(in, 2) && AS("mv", 0, 1);
    case RV_ROW_add:
        return is_zero(in, 1) && AS("mv", 0, 2);
    case RV_ROW_addiw:
        return is_zero(in, 2) && AS("sext.w", 0, 1);
    case RV_ROW_sub:
        return is_zero(in, 1) && AS("neg", 0, 2);
    case RV_ROW_xori:
        return in->op[2].disp == -1 && AS("not", 0, 1);
    case RV_ROW_sltiu:
        return in->op[2].disp == 1 && AS("seqz", 0, 1);
    case RV_ROW_sltu:
        return is_zero(in, 1) && AS("snez", 0, 2);
    case RV_ROW_beq:
        return is_zero(in, 1) && AS("beqz", 0, 2);
    case RV_ROW_bne:
        return is_zero(in, 1) && AS("bnez", 0, 2);
    case RV_ROW_jal:
        return is_zero(in, 0) ? AS("j", 1) : in->op[0].no == RV_RA && AS("jal", 1);
    case RV_ROW_jalr:
        return put_jump_register(t, in);
    case RV_ROW_far:
        return put_far_jump(t, in);
    case RV_ROW_quiet_lt_s:
        return put_quiet_compare(t, in, "fltq.s");
    case RV_ROW_quiet_le_s:
        return put_quiet_compare(t, in, "fleq.s");
    case RV_ROW_quiet_lt_d:
        return put_quiet_compare(t, in, "fltq.d");
    case RV_ROW_quiet_le_d:
        return put_quiet_compare(t, in, "fleq.d");
    case RV_ROW_fsgnj_s:
        return put_sign_copy(t, in, "fmv.s");
    case RV_ROW_fsgnj_d:
        return put_sign_copy(t, in, "fmv.d");
    case RV_ROW_fsgnjn_s:
        return put_sign_copy(t, in, "fneg.s");
    case RV_ROW_fsgnjn_d:
        return put_sign_copy(t, in, "fneg.d");
    case RV_ROW_fsgnjx_s:
        return put_sign_copy(t, in, "fabs.s");
    case RV_ROW_fsgnjx_d:
        return put_sign_copy(t, in, "fabs.d");
    case RV_ROW_csrrs:
        return is_zero(in, 2) && AS("csrr", 0, 1);
    case RV_ROW_csrrw:
        return is_zero(in, 0) && AS("csrw", 1, 2);
    case RV_ROW_c_unimp:
        return put_as(t, in, "unimp", 0, NULL);
    default:
        return false;
    }
}

int rv_format(const u8 *bytes, size_t size, u64 pc, char *text, size_t text_size) {
    Insn in = {0};
    LatheStatus status = rv_decode(bytes, size, pc, &in);
    if (status != LATHE_OK)
        return status;
    Text t = {text, text_size, 0};
    if (!put_alias(&t, &in))
        put_plain(&t, &in);
    return in.size;
}
