/* field.c: see field.h. */
#include "isa/aarch64/field.h"

static i64 sign_extend(u64 value, u32 width) {
    return (i64)(value << (64 - width)) >> (64 - width);
}

/* -------------------------------------------------------------------------------------------------------------- operands */

static Operand reg(u8 cls, u32 no, u32 bits) {
    return (Operand){
        .kind = OPERAND_REG, .cls = cls, .no = (u8)no, .bits = (u16)bits, .base = REG_NONE, .index = REG_NONE};
}

/* Number 31 is zero, or the stack pointer. */
static Operand x(u32 no, u32 bits) {
    return reg(A64_CLS_X, no == 31 ? A64_ZERO : no, bits);
}
static Operand x_or_sp(u32 no, u32 bits) {
    return reg(A64_CLS_X, no, bits);
}

Operand a64_vector_operand(u32 no, u32 bits) {
    return reg(A64_CLS_V, no, bits);
}

Operand a64_imm_operand(i64 value) {
    return (Operand){.kind = OPERAND_IMM, .bits = 64, .disp = value, .base = REG_NONE, .index = REG_NONE};
}

static Operand mem(u32 base, i64 disp) {
    return (Operand){
        .kind = OPERAND_MEM, .base = (u8)base, .index = REG_NONE, .scale = 1, .addr_bits = 64, .disp = disp};
}

static u32 d(u32 w) {
    return a64_bits(w, 4, 0);
}
static u32 n(u32 w) {
    return a64_bits(w, 9, 5);
}
static u32 m(u32 w) {
    return a64_bits(w, 20, 16);
}
static u32 a(u32 w) {
    return a64_bits(w, 14, 10);
}

static u32 width(u32 w) {
    return w >> 31 ? 64 : 32;
}

/* ------------------------------------------------------------------------------------------------------------ immediates */

/* The manual, DecodeBitMasks: a run of ones, rotated, in elements of a power of two. False: reserved. */
static bool logical(u32 w, u64 *value) {
    u32 n_bit = a64_bits(w, 22, 22), imms = a64_bits(w, 15, 10), immr = a64_bits(w, 21, 16);
    u32 len_bits = n_bit << 6 | (~imms & 0x3f);
    if (len_bits < 2 || (n_bit && width(w) == 32))
        return false;
    u32 size = 1u << (31 - __builtin_clz(len_bits)), levels = size - 1, s = imms & levels, r = immr & levels;
    if (s == levels)
        return false;
    u64 mask = size == 64 ? ~(u64)0 : ((u64)1 << size) - 1, ones = ((u64)1 << (s + 1)) - 1;
    u64 element = r ? (ones >> r | ones << (size - r)) & mask : ones;
    for (u32 at = size; at < 64; at *= 2)
        element |= element << at;
    *value = element;
    return true;
}

static i64 adr_offset(u32 w) {
    return sign_extend(a64_bits(w, 23, 5) << 2 | a64_bits(w, 30, 29), 21);
}

static u64 moved(u32 w) {
    return (u64)a64_bits(w, 20, 5) << 16 * a64_bits(w, 22, 21);
}

/* ---------------------------------------------------------------------------------------------------------------- memory */

/* The manual, C4.1.88: of loads and stores of one register, the size is in bits 31–30, with bit 23 of those of vector registers. */
static u32 access_log2(u32 w) {
    return a64_bits(w, 26, 26) ? a64_bits(w, 23, 23) << 2 | a64_bits(w, 31, 30) : a64_bits(w, 31, 30);
}

/* Of pairs. */
static u32 pair_log2(u32 w) {
    return a64_bits(w, 26, 26) ? 2 + a64_bits(w, 31, 30) : 2 + a64_bits(w, 31, 31);
}

static i64 pair_offset(u32 w) {
    return sign_extend(a64_bits(w, 21, 15), 7) * (1 << pair_log2(w));
}

/* Bits 15–13: uxtw 2, lsl 3, sxtw 6, sxtx 7. */
static Operand indexed(u32 w) {
    Operand op = mem(n(w), 0);
    op.index = m(w) == 31 ? REG_NONE : (u8)m(w);
    op.index_bits = a64_bits(w, 13, 13) ? 0 : 32;
    op.index_signed = a64_bits(w, 15, 15);
    op.scale = (u8)(1 << (a64_bits(w, 12, 12) ? access_log2(w) : 0));
    return op;
}

static i64 pac_offset(u32 w) {
    return sign_extend(a64_bits(w, 22, 22) << 9 | a64_bits(w, 20, 12), 10) * 8;
}

static bool memory(u32 w, A64Field field, u64 pc, Operand *op) {
    i64 imm9 = sign_extend(a64_bits(w, 20, 12), 9);
    switch (field) {
    case MEM:
    case MEM_POST:
        *op = mem(n(w), 0);
        return true;
    case MEM_12:
        *op = mem(n(w), (i64)a64_bits(w, 21, 10) << access_log2(w));
        return true;
    case MEM_9:
    case MEM_PRE:
        *op = mem(n(w), imm9);
        return true;
    case BY_9:
        *op = a64_imm_operand(imm9);
        return true;
    case BY_7:
        *op = a64_imm_operand(pair_offset(w));
        return true;
    case MEM_7:
    case MEM_7_PRE:
        *op = mem(n(w), pair_offset(w));
        return true;
    case MEM_REG:
        *op = indexed(w);
        return a64_bits(w, 14, 14);
    case MEM_LITERAL:
        *op = mem(REG_PC, (i64)(pc + (u64)(sign_extend(a64_bits(w, 23, 5), 19) * 4)));
        return true;
    case MEM_PAC:
    case MEM_PAC_PRE:
        *op = mem(n(w), pac_offset(w));
        return true;
    case MEM_LINE:
        *op = mem(d(w), 0);
        if (d(w) == 31)
            op->base = REG_NONE;
        return true;
    default:
        return false;
    }
}

/* ---------------------------------------------------------------------------------------------------------------- fields */

/* A scalar of the format in bits 23–22: single, double, none, half. */
static bool scalar(u32 w, u32 no, Operand *op) {
    static const u8 bits[] = {32, 64, 0, 16};
    *op = a64_vector_operand(no, bits[a64_bits(w, 23, 22)]);
    return op->bits;
}

/* What copies and sets memory goes by registers that differ; only what is set may be none. */
static bool goes_by(u32 w, bool may_be_none, Operand *op) {
    *op = x(n(w), 64);
    bool differ = d(w) != n(w) && m(w) != n(w) && m(w) != d(w), none = d(w) == 31 || n(w) == 31;
    return differ && !none && (may_be_none || m(w) != 31);
}

static bool even(u32 no, u32 bits, Operand *op) {
    *op = x(no | 1, bits);
    return !(no & 1);
}

/* General registers and immediates of which any value will do. */
static bool plain(u32 w, A64Field field, u64 pc, Operand *op) {
    // clang-format off
    switch (field) {
    case RD: case RD_RW: case RT_S:   *op = x(d(w), width(w)); return true;
    case RD_SP:                       *op = x_or_sp(d(w), width(w)); return true;
    case RN:                          *op = x(n(w), width(w)); return true;
    case RN_SP:                       *op = x_or_sp(n(w), width(w)); return true;
    case RM:                          *op = x(m(w), width(w)); return true;
    case RA:                          *op = x(a(w), width(w)); return true;
    case XD: case XD_RW: case XD_AT: case XT: case XT_S: *op = x(d(w), 64); return true;
    case WD: case WT: case WT_S:      *op = x(d(w), 32); return true;
    case XN:                          *op = x(n(w), 64); return true;
    case XN_SP:                       *op = x_or_sp(n(w), 64); return true;
    case WN:                          *op = x(n(w), 32); return true;
    case XM: case XS_RW: case XS_AT: case XS_S: *op = x(m(w), 64); return true;
    case XM_SP:                       *op = x_or_sp(m(w), 64); return true;
    case WM: case WS: case WS_RW: case WS_S: *op = x(m(w), 32); return true;
    case XA: case XT2: case XT2_S:    *op = x(a(w), 64); return true;
    case WT2: case WT2_S:             *op = x(a(w), 32); return true;
    case IMM12:         *op = a64_imm_operand((i64)a64_bits(w, 21, 10) << 12 * a64_bits(w, 22, 22)); return true;
    case IMM16:         *op = a64_imm_operand(a64_bits(w, 20, 5)); return true;
    case IMM16_CALL:    *op = a64_imm_operand(a64_bits(w, 20, 5)); return true;
    case IMM5:          *op = a64_imm_operand(a64_bits(w, 20, 16)); return true;
    case IMM6:          *op = a64_imm_operand(a64_bits(w, 20, 15)); return true;
    case FLAG_MASK: case FLAGS4: *op = a64_imm_operand(a64_bits(w, 3, 0)); return true;
    case BIT:           *op = a64_imm_operand(a64_bits(w, 31, 31) << 5 | a64_bits(w, 23, 19)); return true;
    case COND:          *op = a64_imm_operand(a64_bits(w, 15, 12)); return true;
    case COND_LOW:      *op = a64_imm_operand(a64_bits(w, 3, 0)); return true;
    case HINT:          *op = a64_imm_operand(a64_bits(w, 11, 5)); return true;
    case BARRIER:       *op = a64_imm_operand(a64_bits(w, 11, 8)); return true;
    case SYSREG:        *op = a64_imm_operand(a64_bits(w, 19, 5)); return true;
    case PREFETCH:      *op = a64_imm_operand(a64_bits(w, 4, 0)); return true;
    case FIMM8:         *op = a64_imm_operand(a64_bits(w, 20, 13)); return true;
    case ADR:           *op = a64_imm_operand((i64)(pc + (u64)adr_offset(w))); return true;
    case ADRP:          *op = a64_imm_operand((i64)((pc & ~(u64)0xfff) + (u64)(adr_offset(w) * 4096))); return true;
    case TARGET26:      *op = a64_imm_operand((i64)(pc + (u64)(sign_extend(a64_bits(w, 25, 0), 26) * 4))); return true;
    case TARGET19:      *op = a64_imm_operand((i64)(pc + (u64)(sign_extend(a64_bits(w, 23, 5), 19) * 4))); return true;
    case TARGET14:      *op = a64_imm_operand((i64)(pc + (u64)(sign_extend(a64_bits(w, 18, 5), 14) * 4))); return true;
    case BT: case BT_S:               *op = a64_vector_operand(d(w), 8); return true;
    case HT: case HT_S: case HD:      *op = a64_vector_operand(d(w), 16); return true;
    case ST: case ST_S: case SD:      *op = a64_vector_operand(d(w), 32); return true;
    case DT: case DT_S: case DD:      *op = a64_vector_operand(d(w), 64); return true;
    case QT: case QT_S: case QD: case QD_HIGH: *op = a64_vector_operand(d(w), 128); return true;
    case ST2: case ST2_S:             *op = a64_vector_operand(a(w), 32); return true;
    case DT2: case DT2_S:             *op = a64_vector_operand(a(w), 64); return true;
    case QT2: case QT2_S:             *op = a64_vector_operand(a(w), 128); return true;
    case HN:                          *op = a64_vector_operand(n(w), 16); return true;
    case SN:                          *op = a64_vector_operand(n(w), 32); return true;
    case DN:                          *op = a64_vector_operand(n(w), 64); return true;
    case QN: case QN_HIGH:            *op = a64_vector_operand(n(w), 128); return true;
    case HM:                          *op = a64_vector_operand(m(w), 16); return true;
    case SM:                          *op = a64_vector_operand(m(w), 32); return true;
    case DM:                          *op = a64_vector_operand(m(w), 64); return true;
    case QM:                          *op = a64_vector_operand(m(w), 128); return true;
    default:                          return false;
    }
    // clang-format on
}

/* Those of which some values are reserved. */
static bool limited(u32 w, A64Field field, Operand *op) {
    u64 value = 0;
    bool valid = true;
    switch (field) {
    case IMM_LOGICAL:
        valid = logical(w, &value);
        break;
    case IMM16_SHIFTED:
    case IMM16_NOT:
        value = field == IMM16_NOT ? ~moved(w) : moved(w);
        valid = width(w) == 64 || !a64_bits(w, 22, 22);
        break;
    case HALFWORD:
        value = 16 * a64_bits(w, 22, 21);
        valid = width(w) == 64 || value < 32;
        break;
    case IMMR:
        value = a64_bits(w, 21, 16);
        valid = width(w) == 64 || value < 32;
        break;
    case IMMS: /* bit 22 repeats bit 31 */
        value = a64_bits(w, 15, 10);
        valid = a64_bits(w, 22, 22) == w >> 31 && (width(w) == 64 || value < 32);
        break;
    case SHIFT:
        value = a64_bits(w, 15, 10);
        valid = width(w) == 64 || value < 32;
        break;
    case EXTEND:
        value = a64_bits(w, 12, 10);
        valid = value <= 4;
        break;
    case FBITS:
        value = 64 - a64_bits(w, 15, 10);
        valid = width(w) == 64 || value <= 32;
        break;
    case FD:
    case FD_RW:
        return scalar(w, d(w), op);
    case FN:
        return scalar(w, n(w), op);
    case FM:
        return scalar(w, m(w), op);
    case FA:
        return scalar(w, a(w), op);
    case XN_LEFT:
        return goes_by(w, false, op);
    case XN_SET:
        return goes_by(w, true, op);
    case WS2_RW:
        return even(m(w), 32, op);
    case XS2_RW:
        return even(m(w), 64, op);
    case WT2_NEXT:
        return even(d(w), 32, op);
    case XT2_NEXT:
        return even(d(w), 64, op);
    default:
        return a64_simd_field(w, field, op);
    }
    *op = a64_imm_operand((i64)value);
    return valid;
}

bool a64_field(u32 w, A64Field field, u64 pc, Operand *op) {
    return plain(w, field, pc, op) || memory(w, field, pc, op) || limited(w, field, op);
}

A64Use a64_use(A64Field field) {
    // clang-format off
    static const u8 uses[FIELD_COUNT] = {
        [RD] = USE_WRITTEN, [RD_SP] = USE_WRITTEN, [XD] = USE_WRITTEN, [WD] = USE_WRITTEN,
        [WT] = USE_WRITTEN, [XT] = USE_WRITTEN, [WT2] = USE_WRITTEN, [XT2] = USE_WRITTEN, [WS] = USE_WRITTEN,
        [FD] = USE_WRITTEN, [HD] = USE_WRITTEN, [SD] = USE_WRITTEN, [DD] = USE_WRITTEN, [QD] = USE_WRITTEN,
        [BT] = USE_WRITTEN, [HT] = USE_WRITTEN, [ST] = USE_WRITTEN, [DT] = USE_WRITTEN, [QT] = USE_WRITTEN,
        [ST2] = USE_WRITTEN, [DT2] = USE_WRITTEN, [QT2] = USE_WRITTEN,
        [RD_RW] = USE_BOTH, [XD_RW] = USE_BOTH, [WS_RW] = USE_BOTH, [XS_RW] = USE_BOTH, [WS2_RW] = USE_BOTH, [XS2_RW] = USE_BOTH,
        [FD_RW] = USE_BOTH, [QD_HIGH] = USE_BOTH, [XD_AT] = USE_BOTH, [XS_AT] = USE_BOTH, [XN_LEFT] = USE_BOTH, [XN_SET] = USE_BOTH,
#define FIELD(name, use) [name] = use,
#include "isa/aarch64/simd_fields.def"
#undef FIELD
    };
    // clang-format on
    return (A64Use)uses[field];
}

bool a64_writes_back(A64Field field) {
    return field == MEM_PRE || field == MEM_POST || field == MEM_7_PRE || field == MEM_PAC_PRE;
}
