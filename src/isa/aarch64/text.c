/* text.c: instructions as text, from the table, in the manual's syntax, with the commonest of the assembler's other names. */
#include "isa/text.h"
#include "isa/aarch64/encoding.h"
#include "isa/aarch64/simd_field.h"
#include "isa/aarch64/system.h"

static const char *const conditions[16] = {"eq", "ne", "hs", "lo", "mi", "pl", "vs", "vc",
                                           "hi", "ls", "ge", "lt", "gt", "le", "al", "nv"};
static const char *const shifts[4] = {"lsl", "lsr", "asr", "ror"};
static const char *const extensions[8] = {"uxtb", "uxth", "uxtw", "uxtx", "sxtb", "sxth", "sxtw", "sxtx"};

/* ----------------------------------------------------------------------------------------------------------- registers */

static void put_general(Text *t, u32 no, u32 bits) {
    const char *letter = bits == 32 ? "w" : "x";
    if (no == A64_ZERO)
        text_put(t, "%szr", letter);
    else if (no == A64_SP)
        text_put(t, bits == 32 ? "wsp" : "sp");
    else
        text_put(t, "%s%u", letter, no);
}

static char letter_of(u32 bits) {
    static const char letters[] = "bhsdq";
    return letters[bits <= 8 ? 0 : 31 - __builtin_clz(bits / 8)];
}

/* A scalar, a vector of elements, or one lane: see simd_field.c. */
static void put_vector(Text *t, u32 no, const Operand *op) {
    if (op->seg == A64_ONE_LANE)
        text_put(t, "v%u.%c", no, letter_of(op->scale));
    else if (op->scale && op->scale < op->bits)
        text_put(t, "v%u.%u%c", no, op->bits / op->scale, letter_of(op->scale));
    else
        text_put(t, "%c%u", letter_of(op->bits), no);
}

/* Registers that follow each other, and then the lane of each that is meant. */
static void put_list(Text *t, const Operand *op) {
    for (u32 i = 0; i < (u32)op->disp; i++) {
        text_put(t, i ? ", " : "{");
        put_vector(t, (op->no + i) % 32, op);
    }
    text_put(t, "}");
    if (op->seg == A64_ONE_LANE)
        text_put(t, "[%u]", op->addr_bits);
}

static bool is_list(A64Field field) {
    return field == TABLE || field == TS || field == TS_S || field == TS_LANE || field == TS_LANE_S;
}

static void put_register(Text *t, const Operand *op, A64Field field) {
    if (is_list(field)) {
        put_list(t, op);
    } else if (field == QD_HIGH || field == QN_HIGH) {
        text_put(t, "v%u.d[1]", op->no);
    } else if (op->cls == A64_CLS_V) {
        put_vector(t, op->no, op);
        if (op->seg == A64_ONE_LANE)
            text_put(t, "[%lld]", (long long)op->disp);
    } else {
        put_general(t, op->no, op->bits);
    }
}

/* -------------------------------------------------------------------------------------------------------------- memory */

static void put_index(Text *t, const Operand *m) {
    text_put(t, ", ");
    put_general(t, m->index, m->index_bits ? 32 : 64);
    u32 shift = (u32)__builtin_ctz(m->scale);
    const char *how = m->index_bits ? (m->index_signed ? "sxtw" : "uxtw") : m->index_signed ? "sxtx" : "lsl";
    if (m->index_bits || m->index_signed || shift)
        text_put(t, ", %s", how);
    if (shift)
        text_put(t, " #%u", shift);
}

static void put_memory(Text *t, const Operand *m, A64Field field) {
    if (field == MEM_LINE) {
        put_general(t, m->base == REG_NONE ? A64_ZERO : m->base, 64);
        return;
    }
    if (m->base == REG_PC) {
        text_put(t, "0x%llx", (unsigned long long)m->disp);
        return;
    }
    text_put(t, "[");
    put_general(t, m->base, 64);
    if (m->index != REG_NONE)
        put_index(t, m);
    else if (m->disp)
        text_put(t, ", #%lld", (long long)m->disp);
    text_put(t, field == MEM_PRE || field == MEM_7_PRE || field == MEM_PAC_PRE ? "]!" : "]");
}

/* ---------------------------------------------------------------------------------------------------------- immediates */

static void put_system_register(Text *t, u32 no) {
    const char *name = a64_system_name(no);
    if (name)
        text_put(t, "%s", name);
    else
        text_put(t, "s%u_%u_c%u_c%u_%u", 2 | no >> 14, no >> 11 & 7, no >> 7 & 15, no >> 3 & 15, no & 7);
}

static void put_immediate(Text *t, const Insn *in, const Operand *op, A64Field field) {
    switch (field) {
    case COND:
    case COND_LOW:
        text_put(t, "%s", conditions[op->disp & 15]);
        return;
    case SYSREG:
        put_system_register(t, (u32)op->disp);
        return;
    case ADR:
    case ADRP:
    case TARGET26:
    case TARGET19:
    case TARGET14:
        text_put(t, "0x%llx", (unsigned long long)op->disp);
        return;
    case IMM_LOGICAL:
    case IMM16_SHIFTED:
        text_put(t, "#0x%llx", (unsigned long long)(in->op[0].bits == 32 ? op->disp & 0xffffffff : op->disp));
        return;
    case HALFWORD:
        text_put(t, "lsl #%lld", (long long)op->disp);
        return;
    default:
        text_put(t, "#%lld", (long long)op->disp);
    }
}

/* How the register before is shifted or extended; nothing if it is not. */
static void put_modifier(Text *t, const Insn *in, const Operand *op, A64Field field) {
    bool extends = field == EXTEND;
    if (!extends && !op->disp)
        return;
    text_separate(t);
    text_put(t, "%s", extends ? extensions[a64_bits(in->word, 15, 13)] : shifts[a64_bits(in->word, 23, 22)]);
    if (op->disp)
        text_put(t, " #%lld", (long long)op->disp);
}

/* ------------------------------------------------------------------------------------------------------- instructions */

/* Registers of copies, which all change: addresses, and how much is left. */
static bool put_changed(Text *t, const Operand *op, A64Field field) {
    bool is_address = field == XD_AT || field == XS_AT;
    if (!is_address && field != XN_LEFT && field != XN_SET)
        return false;
    text_put(t, is_address ? "[x%u]!" : "x%u!", op->no);
    return true;
}

static void put_operand(Text *t, const Insn *in, u32 i, A64Field field) {
    const Operand *op = &in->op[i];
    bool at_zero = field == HALFWORD && !op->disp;
    if (field == SHIFT || field == EXTEND) {
        put_modifier(t, in, op, field);
        return;
    }
    if (at_zero || (in->row == A64_ROW_b_cond && field == COND_LOW) ||
        (in->row == A64_ROW_bc_cond && field == COND_LOW))
        return;
    text_separate(t);
    if (put_changed(t, op, field))
        return;
    if (op->kind == OPERAND_REG)
        put_register(t, op, field);
    else if (op->kind == OPERAND_MEM)
        put_memory(t, op, field);
    else
        put_immediate(t, in, op, field);
}

/* How those that copy and set memory access it: whose rights loads and stores have, and which of them are not to stay in caches. */
static void put_options(Text *t, const Insn *in) {
    static const char *const rights[] = {"", "wt", "rt", "t"}, *const stays[] = {"", "wn", "rn", "n"};
    bool sets = a64_fields[in->row][1] == XN_SET;
    u32 options = a64_bits(in->word, 15, 12);
    if (sets)
        text_put(t, "%s%s", options & 1 ? "t" : "", options & 2 ? "n" : "");
    else
        text_put(t, "%s%s", rights[options & 3], stays[options >> 2]);
}

/* The name before its first underline. Those of atomic operations get their order before the size. */
static void put_name(Text *t, const Insn *in) {
    const char *name = a64_names[in->row];
    int len = (int)strcspn(name, "_");
    bool atomic = a64_bits(in->word, 29, 24) == 0x38 && a64_bits(in->word, 21, 21) && !a64_bits(in->word, 11, 10) &&
                  strncmp(name, "ldapr", 5) != 0;
    bool swap = !strncmp(name, "cas", 3);
    if (!atomic && !swap) {
        text_put(t, "%.*s", len, name);
        if (in->row == A64_ROW_b_cond || in->row == A64_ROW_bc_cond)
            text_put(t, ".%s", conditions[in->op[1].disp & 15]);
        return;
    }
    bool sized = name[len] == 0 && (in->word >> 31) == 0;
    bool acquires = a64_bits(in->word, swap ? 22 : 23, swap ? 22 : 23),
         releases = a64_bits(in->word, swap ? 15 : 22, swap ? 15 : 22);
    text_put(t, "%.*s%s%s%s", len - sized, name, acquires ? "a" : "", releases ? "l" : "", sized ? name + len - 1 : "");
}

static void put_plain(Text *t, const Insn *in) {
    u32 i = 0;
    put_name(t, in);
    if (a64_fields[in->row][0] == XD_AT)
        put_options(t, in);
    if (in->row == A64_ROW_fcmp_zero || in->row == A64_ROW_fcmpe_zero) {
        put_operand(t, in, 0, (A64Field)a64_fields[in->row][0]);
        text_put(t, ", #0.0");
        return;
    }
    for (const u8 *field = a64_fields[in->row]; *field; field++)
        if (a64_is_operand((A64Field)*field))
            put_operand(t, in, i++, (A64Field)*field);
}

/* Another name, with the operands that it has. */
static bool put_as(Text *t, const Insn *in, const char *name, int count, const int *which) {
    text_put(t, "%s", name);
    for (int i = 0; i < count; i++)
        put_operand(t, in, (u32)which[i], (A64Field)a64_fields[in->row][which[i]]);
    return true;
}
#define AS(name, ...) put_as(t, in, name, ARRAY_LEN(((int[]){__VA_ARGS__})), (int[]){__VA_ARGS__})

static bool is_zero(const Insn *in, int i) {
    return in->op[i].kind == OPERAND_REG ? in->op[i].no == A64_ZERO : in->op[i].disp == 0;
}

static bool put_with_immediate(Text *t, const Insn *in, const char *name, i64 value) {
    AS(name, 0, 1);
    text_separate(t);
    text_put(t, "#%lld", (long long)value);
    return true;
}

static bool put_shift(Text *t, const Insn *in, bool is_signed) {
    u32 width = in->op[0].bits, r = (u32)a64_imm(in, 2), s = (u32)a64_imm(in, 3);
    if (s == width - 1)
        return put_with_immediate(t, in, is_signed ? "asr" : "lsr", r);
    if (!is_signed && s + 1 == r)
        return put_with_immediate(t, in, "lsl", width - r);
    if (r || (s != 7 && s != 15 && s != 31))
        return false;
    static const char *const names[2][3] = {{"uxtb", "uxth", "uxtw"}, {"sxtb", "sxth", "sxtw"}};
    text_put(t, "%s ", names[is_signed][s == 7 ? 0 : s == 15 ? 1 : 2]);
    put_general(t, in->op[0].no, width);
    text_put(t, ", ");
    put_general(t, in->op[1].no, 32);
    return true;
}

/* cset, cinc and the like, whose condition is the opposite. */
static bool put_set(Text *t, const Insn *in, const char *set, const char *change) {
    bool same = in->op[1].no == in->op[2].no && in->op[3].disp < A64_AL;
    if (!same)
        return false;
    text_put(t, "%s", is_zero(in, 1) ? set : change);
    put_operand(t, in, 0, RD);
    if (!is_zero(in, 1))
        put_operand(t, in, 1, RN);
    text_separate(t);
    text_put(t, "%s", conditions[in->op[3].disp ^ 1]);
    return true;
}

static bool put_hint(Text *t, const Insn *in) {
    static const char *const names[] = {"nop", "yield", "wfe", "wfi", "sev", "sevl"};
    static const char *const of_links[] = {"paciaz", "paciasp", "pacibz", "pacibsp",
                                           "autiaz", "autiasp", "autibz", "autibsp"};
    static const char *const targets[] = {"bti", "bti c", "bti j", "bti jc"};
    u64 no = a64_imm(in, 0);
    if (no < ARRAY_LEN(names))
        text_put(t, "%s", names[no]);
    else if (no >= 24 && no < 32)
        text_put(t, "%s", of_links[no - 24]);
    else if (no >= 32 && no < 40 && !(no & 1))
        text_put(t, "%s", targets[(no - 32) / 2]);
    else
        return false;
    return true;
}

static bool put_cache(Text *t, const Insn *in) {
    const char *name = a64_names[in->row];
    text_put(t, "%.2s %s", name, name + 3);
    put_operand(t, in, 0, MEM_LINE);
    t->operands = 1;
    return true;
}

/* The assembler's other names; false: it has none for it. */
static bool put_alias(Text *t, const Insn *in) {
    switch (in->row) {
    case A64_ROW_subs_imm:
    case A64_ROW_subs_reg:
    case A64_ROW_subs_ext:
        return is_zero(in, 0) && (in->operand_count > 3 ? AS("cmp", 1, 2, 3) : AS("cmp", 1, 2));
    case A64_ROW_adds_imm:
        return is_zero(in, 0) && AS("cmn", 1, 2);
    case A64_ROW_adds_reg:
        return is_zero(in, 0) && AS("cmn", 1, 2, 3);
    case A64_ROW_ands_imm:
        return is_zero(in, 0) && AS("tst", 1, 2);
    case A64_ROW_ands_reg:
        return is_zero(in, 0) && AS("tst", 1, 2, 3);
    case A64_ROW_add_imm:
        return (in->op[0].no == A64_SP || in->op[1].no == A64_SP) && is_zero(in, 2) && AS("mov", 0, 1);
    case A64_ROW_sub_reg:
        return is_zero(in, 1) && AS("neg", 0, 2, 3);
    case A64_ROW_orr_reg:
        return is_zero(in, 1) && is_zero(in, 3) && AS("mov", 0, 2);
    case A64_ROW_orn_reg:
        return is_zero(in, 1) && AS("mvn", 0, 2, 3);
    case A64_ROW_movz:
    case A64_ROW_movn:
        return AS("mov", 0, 1);
    case A64_ROW_ubfm:
        return put_shift(t, in, false);
    case A64_ROW_sbfm:
        return put_shift(t, in, true);
    case A64_ROW_lslv:
        return AS("lsl", 0, 1, 2);
    case A64_ROW_lsrv:
        return AS("lsr", 0, 1, 2);
    case A64_ROW_asrv:
        return AS("asr", 0, 1, 2);
    case A64_ROW_rorv:
        return AS("ror", 0, 1, 2);
    case A64_ROW_madd:
        return is_zero(in, 3) && AS("mul", 0, 1, 2);
    case A64_ROW_msub:
        return is_zero(in, 3) && AS("mneg", 0, 1, 2);
    case A64_ROW_smaddl:
        return is_zero(in, 3) && AS("smull", 0, 1, 2);
    case A64_ROW_umaddl:
        return is_zero(in, 3) && AS("umull", 0, 1, 2);
    case A64_ROW_csinc:
        return put_set(t, in, "cset", "cinc");
    case A64_ROW_csinv:
        return put_set(t, in, "csetm", "cinv");
    case A64_ROW_ret:
        return in->op[0].no == A64_LR && put_as(t, in, "ret", 0, NULL);
    case A64_ROW_hint:
    case A64_ROW_hint_more:
        return put_hint(t, in);
    case A64_ROW_dc_zva:
    case A64_ROW_dc_cvac:
    case A64_ROW_dc_cvau:
    case A64_ROW_dc_cvap:
    case A64_ROW_dc_cvadp:
    case A64_ROW_dc_civac:
    case A64_ROW_ic_ivau:
        return put_cache(t, in);
    default:
        return false;
    }
}

int a64_format(const u8 *bytes, size_t size, u64 pc, char *text, size_t text_size) {
    Insn in = {0};
    LatheStatus status = a64_decode(bytes, size, pc, &in);
    if (status != LATHE_OK)
        return status;
    Text t = {text, text_size, 0};
    if (!put_alias(&t, &in))
        put_plain(&t, &in);
    return in.size;
}
