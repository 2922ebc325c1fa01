/* form.c: the form of an aarch64 instruction; see isa/form.h.
 *
 * A form is the word without the bits that are numbers of registers or immediates that are filled in later; together with which operands are one register, or zero.
 * So whatever else a meaning takes from the word is part of the form. It is also part of the form which flags nobody reads, and the branch that follows. */
#include "isa/form.h"

#include "isa/aarch64/encoding.h"
#include "isa/aarch64/field.h"
#include "isa/aarch64/form.h"
#include "isa/aarch64/simd_field.h"
#include "isa/aarch64/system.h"

/* ------------------------------------------------------------------------------------------------------------ registers */

Reg form_register(const Operand *op) {
    if (op->kind == OPERAND_MEM)
        return op->base >= REG_PC ? REG_NONE : op->base;
    if (op->kind != OPERAND_REG || op->no == A64_ZERO)
        return REG_NONE;
    return (Reg)(op->cls == A64_CLS_V ? A64_V0 + op->no : op->no);
}

bool form_may_be_held(Reg r) {
    return r < A64_V0 + 32;
}

u32 form_place(const Operand *op) {
    Reg r = form_register(op);
    return (u32)(r >= A64_V0 ? offsetof(LatheAarch64Cpu, vec) + 16 * (r - A64_V0)
                             : offsetof(LatheAarch64Cpu, x) + 8 * r);
}

/* --------------------------------------------------------------------------------------------------- bits that are left out */

/* Where the number of a general register is, or of a vector register that the form does not depend on. */
static u32 register_bits(A64Field field) {
    enum { AT_D = 31, AT_N = 31 << 5, AT_A = 31 << 10, AT_M = 31 << 16 };
    // clang-format off
    switch (field) {
    case RD: case RD_SP: case RD_RW: case XD: case XD_RW: case XD_AT: case WD: case RT_S: case WT: case XT: case WT_S: case XT_S: case WT2_NEXT: case XT2_NEXT:
    case FD: case FD_RW: case BT: case HT: case ST: case DT: case QT: case BT_S: case HT_S: case ST_S: case DT_S: case QT_S:
    case HD: case SD: case DD: case QD: case QD_HIGH: case GD: case MEM_LINE:
        return AT_D;
    case RN: case RN_SP: case XN: case XN_SP: case XN_LEFT: case XN_SET: case WN: case FN: case HN: case SN: case DN: case QN: case QN_HIGH: case GN_5:
    case MEM: case MEM_12: case MEM_9: case MEM_PRE: case MEM_7: case MEM_7_PRE: case MEM_PAC: case MEM_PAC_PRE: case MEM_POST:
        return AT_N;
    case RM: case XM: case XM_SP: case WM: case WS: case WS_RW: case XS_RW: case XS_AT: case WS_S: case XS_S: case WS2_RW: case XS2_RW: case FM: case HM: case SM: case DM: case QM:
        return AT_M;
    case RA: case XA: case WT2: case XT2: case WT2_S: case XT2_S: case FA: case ST2: case DT2: case QT2: case ST2_S: case DT2_S: case QT2_S:
        return AT_A;
    case MEM_REG:
        return AT_N | AT_M;
    case TS: case TS_S: case TS_LANE: case TS_LANE_S:
        return AT_D;
    case TABLE:
        return AT_N;
    case BY_LIST:
        return AT_M;
    default:
        return a64_simd_register_bits(field);
    }
    // clang-format on
}

static u32 ones(u32 high, u32 low) {
    return (((u32)2 << (high - low)) - 1) << low;
}

/* And where an immediate is that is filled in. */
static u32 immediate_bits(A64Field field) {
    switch (field) {
    case IMM12:
    case IMM_LOGICAL:
        return ones(22, 10);
    case IMM16:
    case IMM16_CALL:
        return ones(20, 5);
    case IMM16_SHIFTED:
    case IMM16_NOT:
        return ones(22, 5);
    case IMMR:
        return ones(21, 16);
    case IMMS:
    case SHIFT:
        return ones(15, 10);
    case EXTEND:
        return ones(12, 10);
    case IMM5:
        return ones(20, 16);
    case HINT:
        return ones(11, 5);
    case PREFETCH:
        return ones(4, 0);
    case FIMM8:
        return ones(20, 13);
    case ADR:
    case ADRP:
        return ones(23, 5) | ones(30, 29);
    case TARGET26:
        return ones(25, 0);
    case TARGET19:
    case MEM_LITERAL:
        return ones(23, 5);
    case TARGET14:
        return ones(18, 5);
    case MEM_12:
        return ones(21, 10);
    case MEM_9:
    case MEM_PRE:
    case BY_9:
        return ones(20, 12);
    case MEM_7:
    case MEM_7_PRE:
    case BY_7:
        return ones(21, 15);
    case MEM_PAC:
    case MEM_PAC_PRE:
        return ones(22, 22) | ones(20, 12);
    case IMM_I: /* and which way it is shifted */
        return ones(18, 16) | ones(14, 12) | ones(9, 5);
    default:
        return 0;
    }
}

/* And where something is that the meaning goes by. */
static u32 meant_bits(A64Field field) {
    // clang-format off
    switch (field) {
    case RD: case RD_SP: case RD_RW: case RN: case RN_SP: case RM: case RA: case RT_S:
        return ones(31, 31);
    case SHIFT:         return ones(23, 22);
    case EXTEND:        return ones(15, 13);
    case HALFWORD:      return ones(22, 21);
    case IMM_LOGICAL:   return ones(31, 31);
    case IMMR: case IMMS: return ones(22, 22);
    case BIT:           return ones(31, 31) | ones(23, 19);
    case COND:          return ones(15, 12);
    case COND_LOW: case FLAGS4: case FLAG_MASK: return ones(3, 0);
    case IMM6:          return ones(20, 15);
    case BARRIER:       return ones(11, 8);
    case SYSREG:        return ones(19, 5);
    case MEM_REG:       return ones(15, 12);
    case FD: case FD_RW: case FN: case FM: case FA: return ones(23, 22);
    case FBITS:         return ones(15, 10);
    default:            return a64_is_simd_field(field) ? ~(u32)0 : 0;
    }
    // clang-format on
}

u32 a64_form_meant_bits(u32 row) {
    u32 meant = 0;
    for (const u8 *field = a64_fields[row]; *field; field++)
        meant |= meant_bits((A64Field)*field);
    return meant & ~a64_encodings[row].mask & ~a64_form_open_bits(row);
}

u32 a64_form_register_bits(u32 row) {
    u32 bits = 0;
    for (const u8 *field = a64_fields[row]; *field; field++)
        bits |= register_bits((A64Field)*field);
    return bits;
}

u32 a64_form_open_bits(u32 row) {
    u32 open = a64_form_register_bits(row);
    for (const u8 *field = a64_fields[row]; *field; field++)
        open |= immediate_bits((A64Field)*field);
    return open;
}

static bool has_bit_field(const Insn *in) {
    return in->row == A64_ROW_sbfm || in->row == A64_ROW_ubfm;
}

/* Of 8, 16 or 32 bits: the host has instructions for that. */
static bool extends(const Insn *in) {
    u64 s = a64_imm(in, 3);
    return has_bit_field(in) && !a64_imm(in, 2) && (s == 7 || s == 15 || s == 31);
}

/* A lane of 16 bits, of which one bit of the register's number is the index. */
static bool has_short_lane(const Insn *in) {
    const Operand *op = &in->op[2];
    return op->kind == OPERAND_REG && op->cls == A64_CLS_V && op->seg == A64_ONE_LANE && op->scale == 16;
}

static bool has_field(const Insn *in, A64Field wanted) {
    for (const u8 *field = a64_fields[in->row]; *field; field++)
        if (*field == wanted)
            return true;
    return false;
}

/* A comparison under a condition that else sets flags which compilers do not write: they are filled in later. */
static bool has_seldom_flags(const Insn *in) {
    u32 flags = in->word & 15;
    return has_field(in, FLAGS4) && flags != 0 && flags != 1 && flags != 2 && flags != 4;
}

/* A condition that always holds, of which there are two. */
static bool is_always(const Insn *in) {
    return has_field(in, COND) && a64_bits(in->word, 15, 12) >= A64_AL;
}

/* All bits that are part of the form. */
static u32 literal_bits(const Insn *in) {
    u32 literal = a64_encodings[in->row].mask | a64_form_meant_bits(in->row);
    if (extends(in))
        literal |= ones(21, 16) | ones(15, 10);
    if (has_seldom_flags(in))
        literal &= ~ones(3, 0);
    if (is_always(in))
        literal &= ~ones(12, 12);
    if (has_short_lane(in))
        literal |= ones(20, 20);
    if (a64_fields[in->row][3] == SHIFT && !in->op[3].disp)
        literal &= ~ones(23, 22); /* shifted by nothing, whichever way */
    if ((in->row == A64_ROW_mrs || in->row == A64_ROW_msr) && !a64_system_is_legal(in))
        literal &= ~ones(19, 5); /* all registers that there are not are one */
    return in->word & literal;
}

/* ----------------------------------------------------------------------------------------------------------- immediates */

static bool fits(i64 value) {
    return value == (i32)value;
}

/* Of bit fields, what is behind their operands counts, and how far bfm rotates. */
static FormImmediate counted(const Insn *in, u32 i) {
    enum { R = 2 };
    if (has_bit_field(in))
        return extends(in) || i < A64_BIT_FIELD_UP ? FORM_LITERAL : FORM_COUNT;
    if (in->row == A64_ROW_bfm)
        return i == A64_BIT_FIELD_MASK ? FORM_WIDE : i == R ? FORM_COUNT : FORM_LITERAL;
    return FORM_COUNT;
}

/* The field of operand i; FIELD_END: it is behind those of the row. */
static A64Field field_of(const Insn *in, u32 i) {
    for (const u8 *field = a64_fields[in->row]; *field; field++)
        if (a64_is_operand((A64Field)*field) && !i--)
            return (A64Field)*field;
    return FIELD_END;
}

FormImmediate form_immediate(const Insn *in, u32 i) {
    switch (field_of(in, i)) {
    case FIELD_END:
        if (in->row == A64_ROW_fmov_imm || a64_fields[in->row][1] == IMM_I)
            return FORM_WIDE;
        return has_bit_field(in) || in->row == A64_ROW_bfm ? counted(in, i) : FORM_LITERAL;
    case FLAGS4:
        return has_seldom_flags(in) ? FORM_SIGNED : FORM_LITERAL;
    case IMMR:
    case IMMS:
    case SHIFT:
    case EXTEND:
        return counted(in, i);
    case IMM12:
    case IMM16:
    case IMM5:
    case BY_9:
    case BY_7:
    case MEM_12:
    case MEM_9:
    case MEM_PRE:
    case MEM_7:
    case MEM_7_PRE:
    case MEM_PAC:
    case MEM_PAC_PRE:
        return FORM_SIGNED;
    case IMM_LOGICAL:
    case IMM16_SHIFTED:
    case IMM16_NOT:
        return fits(in->op[i].disp) || in->op[0].bits == 32 ? FORM_SIGNED : FORM_WIDE;
    default:
        return FORM_LITERAL;
    }
}

bool form_is_absolute(const Insn *in, u32 i) {
    return (void)in, (void)i, true;
}

/* ---------------------------------------------------------------------------------------------------------------- flags */

bool form_is_dead(const Insn *in, Reg r) {
    return r >= A64_N && r <= A64_V && in->prefixes >> (A64_DEAD_SHIFT + r - A64_N) & 1;
}

const bool form_leaves_flags = true;

/* A comparison and the branch that is joined with it. */
bool form_may_leave_flags(const Insn *in) {
    return in->joined;
}

void form_leave_flags(Insn *in) {
    in->prefixes |= 15 << A64_DEAD_SHIFT;
}

/* ----------------------------------------------------------------------------------------------------------------- keys */

/* Is operand i the general register that the first one is, which is written? Other registers may be the same unknown to the form: they are read before one is written. */
static bool is_first(const Insn *in, u32 i) {
    Reg r = form_register(&in->op[i]);
    return i && r < A64_V0 && in->op[0].kind == OPERAND_REG && form_register(&in->op[0]) == r &&
           regset_has(&in->writes, r);
}

static u32 operand_code(const Insn *in, u32 i) {
    enum { NO, SOME, FIRST, WIDE = FIRST };
    const Operand *op = &in->op[i];
    if (op->kind == OPERAND_REG)
        return form_register(op) == REG_NONE ? NO : is_first(in, i) ? FIRST : SOME;
    FormImmediate kind = form_immediate(in, i);
    if (kind == FORM_LITERAL || !op->disp)
        return NO;
    return kind == FORM_WIDE ? WIDE : SOME;
}

u64 form_key(const Insn *in) {
    u64 key = 0;
    for (u32 i = 0; i < INSN_OPERANDS; i++)
        key = key << 2 | operand_code(in, i);
    u32 dead = in->prefixes >> A64_DEAD_SHIFT & 15, joined = in->joined ? 1 + (in->prefixes >> A64_JOINED_SHIFT) : 0;
    return ((key << 4 | dead) << 4 | joined) << 32 | literal_bits(in);
}

/* Is a register that the instruction would write the one that is none? */
static bool drops(const Insn *in) {
    u32 i = 0;
    for (const u8 *field = a64_fields[in->row]; *field; field++) {
        if (!a64_is_operand((A64Field)*field))
            continue;
        const Operand *op = &in->op[i++];
        if (op->kind == OPERAND_REG && op->no == A64_ZERO && a64_use((A64Field)*field) != USE_READ)
            return true;
    }
    return false;
}

/* AdvSIMD has many forms, of which these are seen more often: those of strings, of moves, and of loops that compilers make vectors of. */
static bool is_seldom_vector(const Insn *in) {
    bool is_vector = false;
    for (const u8 *field = a64_fields[in->row]; *field; field++)
        is_vector |= a64_is_simd_field((A64Field)*field);
    // clang-format off
    switch (in->row) {
    case A64_ROW_and_v: case A64_ROW_orr_v: case A64_ROW_eor_v: case A64_ROW_add_v: case A64_ROW_sub_v:
    case A64_ROW_cmeq_v: case A64_ROW_umaxp_v: case A64_ROW_addp_v: case A64_ROW_dup_x: case A64_ROW_umov_x: case A64_ROW_umov_w: case A64_ROW_ins_x:
    case A64_ROW_movi_32: case A64_ROW_movi_64: case A64_ROW_ext_v:
    case A64_ROW_fadd_v: case A64_ROW_fsub_v: case A64_ROW_fmul_v: case A64_ROW_fmla_v: case A64_ROW_fmls_v: case A64_ROW_fmla_l: case A64_ROW_fmul_l:
    case A64_ROW_mul_v: case A64_ROW_mla_v:
        return false;
    default:
        return is_vector;
    }
    // clang-format on
}

/* What compilers hardly ever write: results that go nowhere, comparisons of zero, selections of one source's complement. */
bool form_is_rare(const Insn *in) {
    if (is_always(in) || has_seldom_flags(in))
        return true;
    switch (in->row) {
    case A64_ROW_csinv:
    case A64_ROW_csneg:
        return form_register(&in->op[1]) != form_register(&in->op[2]);
    case A64_ROW_ccmp_reg:
    case A64_ROW_ccmn_reg:
    case A64_ROW_ccmp_imm:
    case A64_ROW_ccmn_imm:
        return in->op[0].no == A64_ZERO;
    case A64_ROW_rmif:
        return true;
    default:
        return has_field(in, FBITS) || (drops(in) && !regset_has(&in->writes, A64_N)) || is_seldom_vector(in);
    }
}

/* ------------------------------------------------------------------------------------------------------------- decoding */

static void append(Insn *in, Operand op) {
    CHECK(in->operand_count < INSN_OPERANDS, "an instruction of too many operands");
    in->op[in->operand_count++] = op;
}

static Operand general(u32 no) {
    return (Operand){
        .kind = OPERAND_REG, .cls = A64_CLS_X, .no = (u8)no, .bits = 64, .base = REG_NONE, .index = REG_NONE};
}

/* The others of a list of registers. */
static void append_list(Insn *in) {
    for (u32 i = 0; i < 2; i++) {
        A64Field field = field_of(in, i);
        bool is_list = field == TS || field == TS_S || field == TS_LANE || field == TS_LANE_S || field == TABLE;
        for (u32 k = 1; is_list && k < (u32)in->op[i].disp; k++)
            append(in, a64_vector_operand((in->op[i].no + k) % 32, 128));
    }
}

/* Registers that no operand of the row names by itself: of a list, the index of an address, the link register. */
static void append_registers(Insn *in) {
    append_list(in);
    for (u32 i = 0; i < in->operand_count; i++)
        if (in->op[i].kind == OPERAND_MEM && in->op[i].index != REG_NONE) {
            append(in, general(in->op[i].index));
            return;
        }
    if (in->flow == FLOW_CALL || in->row == A64_ROW_xpaclri || in->row == A64_ROW_retaa || in->row == A64_ROW_retab)
        append(in, general(A64_LR));
}

/* A comparison, which sets nothing but flags: cmp, cmn, tst of two registers as they are, or of one and a constant. */
bool a64_form_compares(const Insn *in) {
    switch (in->row) {
    case A64_ROW_subs_imm:
    case A64_ROW_adds_imm:
    case A64_ROW_ands_imm:
        return in->op[0].no == A64_ZERO;
    case A64_ROW_subs_reg:
    case A64_ROW_adds_reg:
    case A64_ROW_ands_reg:
        return in->op[0].no == A64_ZERO && !in->op[3].disp;
    default:
        return false;
    }
}

/* A comparison and the branch behind it are one instruction here, which jumps by the operands and does not look at flags. Whoever jumps to the branch finds it. */
static void join_branch(const u8 *bytes, size_t size, Insn *in) {
    Insn branch = {0};
    if (!a64_form_compares(in) || a64_decode(bytes + in->size, size - in->size, insn_end(in), &branch) != LATHE_OK ||
        branch.row != A64_ROW_b_cond || branch.flow != FLOW_BRANCH)
        return;
    in->joined = 1;
    in->prefixes |= (u16)(a64_imm(&branch, 1) << A64_JOINED_SHIFT);
    in->target = branch.target;
    in->flow = FLOW_BRANCH;
    in->size += branch.size;
}

/* A constant is subtracted as its opposite is added: the host adds a constant into another register at once. */
static void add_opposite(Insn *in) {
    u32 subtracts = a64_encodings[A64_ROW_sub_imm].match ^ a64_encodings[A64_ROW_add_imm].match;
    if (in->row != A64_ROW_sub_imm)
        return;
    in->row = A64_ROW_add_imm;
    in->word ^= subtracts;
    in->op[2].disp = -in->op[2].disp;
}

LatheStatus form_decode(const u8 *bytes, size_t size, u64 pc, Insn *in) {
    LatheStatus status = a64_decode(bytes, size, pc, in);
    if (status != LATHE_OK)
        return status;
    append_registers(in);
    add_opposite(in);
    join_branch(bytes, size, in);
    return LATHE_OK;
}
