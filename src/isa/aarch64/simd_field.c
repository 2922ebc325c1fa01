/* simd_field.c: operands of AdvSIMD instructions.
 *
 * Of a vector, Operand.bits is how much of the register counts, .scale the size of an element in bits, .high whether it is the upper half. With .seg
 * (A64_ONE_LANE) it is one lane that stands for all, and .disp is which. Of a list of registers, .disp is how many there are.
 */
#include "isa/aarch64/simd_field.h"

#include "isa/aarch64/form.h"

typedef enum Where { NOWHERE, AT_D, AT_N, AT_M, AT_A } Where;
/* How large an element is: by which bits, or how many bits it has (8 to 128). */
typedef enum Size { BY_23 = 1, BY_22, BY_LOWEST, BY_HIGHEST, BY_IMMEDIATE } Size;
/* How much of the register counts. */
typedef enum Extent { BY_30, ALL, LOWER, UPPER, LONE, PAIR, BY_30_TWICE, ALL_TWICE, LONE_TWICE } Extent;
/* Of one lane: where its index is. */
typedef enum Index { NO_INDEX, IN_11, IN_11_PAIR, IN_5, IN_4 } Index;

typedef struct Shape {
    u8 where, size, extent, index;
} Shape;

// clang-format off
static const Shape shapes[FIELD_COUNT] = {
    [VD] = {AT_D, BY_23, BY_30}, [VD_RW] = {AT_D, BY_23, BY_30}, [VN] = {AT_N, BY_23, BY_30}, [VM] = {AT_M, BY_23, BY_30},
    [VD_W] = {AT_D, BY_23, ALL_TWICE}, [VD_W_RW] = {AT_D, BY_23, ALL_TWICE}, [VN_W] = {AT_N, BY_23, ALL_TWICE}, [VM_W] = {AT_M, BY_23, ALL_TWICE},
    [VD_LOW] = {AT_D, BY_23, LOWER}, [VN_LOW] = {AT_N, BY_23, LOWER}, [VM_LOW] = {AT_M, BY_23, LOWER},
    [VD_UP] = {AT_D, BY_23, UPPER}, [VN_UP] = {AT_N, BY_23, UPPER}, [VM_UP] = {AT_M, BY_23, UPPER},
    [VD_2] = {AT_D, BY_23, BY_30_TWICE}, [VD_2_RW] = {AT_D, BY_23, BY_30_TWICE},
    [VD_8] = {AT_D, 8, BY_30}, [VD_8_RW] = {AT_D, 8, BY_30}, [VN_8] = {AT_N, 8, BY_30}, [VM_8] = {AT_M, 8, BY_30},
    [VD_16] = {AT_D, 16, BY_30}, [VD_16_RW] = {AT_D, 16, BY_30}, [VN_16] = {AT_N, 16, BY_30}, [VM_16] = {AT_M, 16, BY_30},
    [VD_32_RW] = {AT_D, 32, BY_30},
    [VD_F] = {AT_D, BY_22, BY_30}, [VD_F_RW] = {AT_D, BY_22, BY_30}, [VN_F] = {AT_N, BY_22, BY_30}, [VM_F] = {AT_M, BY_22, BY_30},
    [QD_8] = {AT_D, 8, ALL}, [QD_32] = {AT_D, 32, ALL}, [QD_64] = {AT_D, 64, ALL},
    [QD_8_RW] = {AT_D, 8, ALL}, [QD_32_RW] = {AT_D, 32, ALL}, [QD_64_RW] = {AT_D, 64, ALL}, [QD_RW] = {AT_D, 128, ALL},
    [QN_8] = {AT_N, 8, ALL}, [QN_16] = {AT_N, 16, ALL}, [QN_32] = {AT_N, 32, ALL}, [QN_64] = {AT_N, 64, ALL},
    [QM_8] = {AT_M, 8, ALL}, [QM_16] = {AT_M, 16, ALL}, [QM_32] = {AT_M, 32, ALL}, [QM_64] = {AT_M, 64, ALL},
    [QA_8] = {AT_A, 8, ALL}, [QA_32] = {AT_A, 32, ALL},
    [DD_16] = {AT_D, 16, LOWER}, [DD_32] = {AT_D, 32, LOWER}, [DN_16] = {AT_N, 16, LOWER}, [DN_32] = {AT_N, 32, LOWER},
    [UD_16] = {AT_D, 16, UPPER}, [UD_32] = {AT_D, 32, UPPER}, [UN_16] = {AT_N, 16, UPPER}, [UN_32] = {AT_N, 32, UPPER},
    [DN_64] = {AT_N, 64, LOWER}, [DM_64] = {AT_M, 64, LOWER}, [UN_64] = {AT_N, 64, UPPER}, [UM_64] = {AT_M, 64, UPPER},
    [HD_RW] = {AT_D, 16, LONE},
    [ED] = {AT_D, BY_23, LONE}, [ED_RW] = {AT_D, BY_23, LONE}, [EN] = {AT_N, BY_23, LONE}, [EM] = {AT_M, BY_23, LONE},
    [ED_W] = {AT_D, BY_23, LONE_TWICE}, [ED_W_RW] = {AT_D, BY_23, LONE_TWICE}, [EN_W] = {AT_N, BY_23, LONE_TWICE},
    [ED_F] = {AT_D, BY_22, LONE}, [ED_F_RW] = {AT_D, BY_22, LONE}, [EN_F] = {AT_N, BY_22, LONE}, [EM_F] = {AT_M, BY_22, LONE},
    [PN_F] = {AT_N, BY_22, PAIR}, [PN_16] = {AT_N, 16, PAIR},
    [LM] = {AT_M, BY_23, BY_30, IN_11}, [LM_LOW] = {AT_M, BY_23, LOWER, IN_11}, [LM_E] = {AT_M, BY_23, LONE, IN_11},
    [LM_F] = {AT_M, BY_22, BY_30, IN_11}, [LM_F_E] = {AT_M, BY_22, LONE, IN_11},
    [LM_16] = {AT_M, 16, BY_30, IN_11}, [LM_16_E] = {AT_M, 16, LONE, IN_11}, [LM_32] = {AT_M, 32, BY_30, IN_11}, [LQ_16] = {AT_M, 16, ALL, IN_11},
    [LM_PAIR] = {AT_M, BY_23, BY_30, IN_11_PAIR},
    [VD_5] = {AT_D, BY_LOWEST, BY_30}, [ED_5] = {AT_D, BY_LOWEST, LONE}, [LD_5] = {AT_D, BY_LOWEST, LONE, IN_5},
    [LN_5] = {AT_N, BY_LOWEST, BY_30, IN_5}, [LN_5_E] = {AT_N, BY_LOWEST, LONE, IN_5}, [LN_4] = {AT_N, BY_LOWEST, LONE, IN_4},
    [VD_H] = {AT_D, BY_HIGHEST, BY_30}, [VD_H_RW] = {AT_D, BY_HIGHEST, BY_30}, [VN_H] = {AT_N, BY_HIGHEST, BY_30},
    [VD_H_W] = {AT_D, BY_HIGHEST, ALL_TWICE}, [VN_H_W] = {AT_N, BY_HIGHEST, ALL_TWICE},
    [VD_H_LOW] = {AT_D, BY_HIGHEST, LOWER}, [VD_H_UP] = {AT_D, BY_HIGHEST, UPPER},
    [VN_H_LOW] = {AT_N, BY_HIGHEST, LOWER}, [VN_H_UP] = {AT_N, BY_HIGHEST, UPPER},
    [ED_H] = {AT_D, BY_HIGHEST, LONE}, [ED_H_RW] = {AT_D, BY_HIGHEST, LONE}, [EN_H] = {AT_N, BY_HIGHEST, LONE}, [EN_H_W] = {AT_N, BY_HIGHEST, LONE_TWICE},
    [VD_I] = {AT_D, BY_IMMEDIATE, BY_30}, [VD_I_RW] = {AT_D, BY_IMMEDIATE, BY_30},
};
// clang-format on

/* ------------------------------------------------------------------------------------------------ modified immediates */

/* The manual, AdvSIMDExpandImm: eight bits in bits 18–16 and 9–5, by cmode (15–12), op (29) and, of halves, o2 (11). */
static u32 byte_of(u32 w) {
    return a64_bits(w, 18, 16) << 5 | a64_bits(w, 9, 5);
}

static u32 immediate_bits(u32 w) {
    u32 cmode = a64_bits(w, 15, 12);
    if (cmode == 15)
        return a64_bits(w, 11, 11) ? 16 : a64_bits(w, 29, 29) ? 64 : 32;
    if (cmode == 14)
        return a64_bits(w, 29, 29) ? 64 : 8;
    return (cmode & 12) == 8 ? 16 : 32;
}

/* A sign, three bits of exponent, of which the first is repeated and inverted, four of fraction. */
u64 a64_float_immediate(u32 byte, u32 bits) {
    static const u8 exponents[] = {[16 / 16] = 5, [32 / 16] = 8, [64 / 16] = 11};
    u32 exponent_bits = exponents[bits / 16], fraction_bits = bits - 1 - exponent_bits;
    u64 top = byte >> 6 & 1 ? ((u64)1 << (exponent_bits - 3)) - 1 : 0;
    u64 exponent = (u64)(byte >> 6 & 1 ? 0 : 1) << (exponent_bits - 1) | top << 2 | (byte >> 4 & 3);
    return (u64)(byte >> 7) << (bits - 1) | exponent << fraction_bits | (u64)(byte & 15) << (fraction_bits - 4);
}

static u64 mask_immediate(u32 byte) {
    u64 mask = 0;
    for (u32 i = 0; i < 8; i++)
        if (byte >> i & 1)
            mask |= (u64)0xff << 8 * i;
    return mask;
}

/* Of one element, as it is written, not inverted. */
static u64 immediate_value(u32 w) {
    u32 cmode = a64_bits(w, 15, 12), byte = byte_of(w), bits = immediate_bits(w);
    if (cmode == 15)
        return a64_float_immediate(byte, bits);
    if (cmode == 14)
        return bits == 64 ? mask_immediate(byte) : byte;
    if (cmode >= 12) /* with ones behind it */
        return cmode & 1 ? (u64)byte << 16 | 0xffff : (u64)byte << 8 | 0xff;
    return (u64)byte << 8 * (bits == 16 ? cmode >> 1 & 1 : cmode >> 1);
}

/* ------------------------------------------------------------------------------------------------------------ elements */

static u32 highest(u32 v) {
    return v ? 31 - (u32)__builtin_clz(v) : 99;
}

/* 0: reserved. */
static u32 element_bits(u32 w, u32 size) {
    u32 log2 = 99, imm5 = a64_bits(w, 20, 16);
    switch (size) {
    case BY_23:
        return 8u << a64_bits(w, 23, 22);
    case BY_22:
        return 32u << a64_bits(w, 22, 22);
    case BY_LOWEST:
        log2 = imm5 & 15 ? (u32)__builtin_ctz(imm5) : 99;
        break;
    case BY_HIGHEST:
        log2 = highest(a64_bits(w, 22, 19));
        break;
    case BY_IMMEDIATE:
        return immediate_bits(w);
    default:
        return size;
    }
    return log2 < 4 ? 8u << log2 : 0;
}

static bool is_twice(u32 extent) {
    return extent == BY_30_TWICE || extent == ALL_TWICE || extent == LONE_TWICE;
}

static u32 operand_bits(u32 w, u32 extent, u32 element) {
    switch ((Extent)extent) {
    case BY_30:
    case BY_30_TWICE:
        return a64_bits(w, 30, 30) ? 128 : 64;
    case ALL:
    case ALL_TWICE:
        return 128;
    case LOWER:
    case UPPER:
        return 64;
    case LONE:
    case LONE_TWICE:
        return element;
    case PAIR:
        return 2 * element;
    }
    CHECK(false, "an extent that there is not");
}

static u32 register_number(u32 w, u32 where) {
    static const u8 low_bit[] = {[AT_D] = 0, [AT_N] = 5, [AT_M] = 16, [AT_A] = 10};
    return w >> low_bit[where] & 31;
}

u32 a64_simd_register_bits(A64Field field) {
    static const u32 all[] = {[NOWHERE] = 0, [AT_D] = 31, [AT_N] = 31 << 5, [AT_M] = 31 << 16, [AT_A] = 31 << 10};
    return all[shapes[field].where];
}

/* The index of a lane in bits 11 (H), 21 (L), 20 (M), and then M may be of the register's number. False: reserved. */
static bool set_indexed(u32 w, bool is_pair, Operand *op) {
    u32 h = a64_bits(w, 11, 11), l = a64_bits(w, 21, 21), m = a64_bits(w, 20, 20);
    switch (op->scale * (is_pair ? 2 : 1)) {
    case 16:
        op->disp = h << 2 | l << 1 | m;
        op->no &= 15;
        return true;
    case 32:
        op->disp = h << 1 | l;
        return !is_pair || op->bits == 128 || !h;
    case 64:
        op->disp = h;
        return !l && (!is_pair || op->bits == 128);
    }
    return false;
}

static bool set_index(u32 w, u32 index, Operand *op) {
    op->seg = A64_ONE_LANE;
    switch ((Index)index) {
    case NO_INDEX:
        op->seg = 0;
        return true;
    case IN_11:
    case IN_11_PAIR:
        return set_indexed(w, index == IN_11_PAIR, op);
    case IN_5:
        op->disp = a64_bits(w, 20, 16) / (op->scale / 4);
        return true;
    case IN_4:
        op->disp = a64_bits(w, 14, 11) / (op->scale / 8);
        return true;
    }
    CHECK(false, "an index that there is not");
}

static bool shaped(u32 w, const Shape *s, Operand *op) {
    u32 element = element_bits(w, s->size) * (is_twice(s->extent) ? 2 : 1), bits = operand_bits(w, s->extent, element);
    bool is_lone_double = s->extent == BY_30 && bits == element; /* "1D", which is no arrangement */
    if (!element || element > 128 || (is_lone_double && s->size != BY_IMMEDIATE))
        return false;
    *op = a64_vector_operand(register_number(w, s->where), bits);
    op->scale = (u8)element;
    op->high = s->extent == UPPER;
    return set_index(w, s->index, op);
}

static Operand general(u32 no, u32 bits) {
    return (Operand){.kind = OPERAND_REG,
                     .cls = A64_CLS_X,
                     .no = no == 31 ? A64_ZERO : (u8)no,
                     .bits = (u16)bits,
                     .base = REG_NONE,
                     .index = REG_NONE};
}

/* ------------------------------------------------------------------------------------------------ lists of registers */

static Operand list(u32 w, u32 first, u32 count, u32 element) {
    Operand op = a64_vector_operand(first, a64_bits(w, 30, 30) ? 128 : 64);
    op.scale = (u8)element;
    op.disp = count;
    return op;
}

/* The manual, C4.1.94: bits 15–12 of loads and stores of several structures; 0: reserved. */
static u32 list_count(u32 w) {
    static const u8 counts[16] = {[0] = 4, [2] = 4, [4] = 3, [6] = 3, [7] = 1, [8] = 2, [10] = 2};
    return counts[a64_bits(w, 15, 12)];
}

static bool several(u32 w, Operand *op) {
    bool is_plain = a64_bits(w, 13, 13); /* ld1 and st1, which take single doubles, too */
    *op = list(w, a64_bits(w, 4, 0), list_count(w), 8u << a64_bits(w, 11, 10));
    return op->disp && (is_plain || op->bits > op->scale);
}

/* Of a single structure: bits 15–13 (of which the lowest and bit 21 are the number of registers), S (12), size (11–10), and Q. */
static bool one_lane(u32 w, Operand *op) {
    u32 q = a64_bits(w, 30, 30), s = a64_bits(w, 12, 12), size = a64_bits(w, 11, 10), kind = a64_bits(w, 15, 14);
    u32 count = (a64_bits(w, 13, 13) << 1 | a64_bits(w, 21, 21)) + 1, element = 8u << kind;
    u32 index = (q << 3 | s << 2 | size) >> kind;
    if (kind == 2 && size & 1) {
        element = 64;
        index = q;
    }
    *op = list(w, a64_bits(w, 4, 0), count, kind == 3 ? 8u << size : element);
    if (kind == 3)
        return !s;
    op->seg = A64_ONE_LANE;
    op->addr_bits = (u8)index;
    return kind == 0 || (kind == 1 && !(size & 1)) || (kind == 2 && !(size & 2) && !(size & 1 && s));
}

static u32 list_bytes(u32 w) {
    Operand op;
    bool is_single = a64_bits(w, 24, 24);
    if (is_single ? !one_lane(w, &op) : !several(w, &op))
        return 0;
    return (u32)op.disp * (is_single ? op.scale : op.bits) / 8;
}

static Operand list_step(u32 w) {
    u32 no = a64_bits(w, 20, 16);
    return no == 31 ? a64_imm_operand(list_bytes(w)) : general(no, 64);
}

/* -------------------------------------------------------------------------------------------------------------- others */

static bool count_of_shift(u32 w, bool is_left, Operand *op) {
    u32 bits = element_bits(w, BY_HIGHEST), value = a64_bits(w, 22, 16);
    *op = a64_imm_operand(is_left ? value - bits : 2 * bits - value);
    return bits;
}

static bool bytes_ext(u32 w, Operand *op) {
    u32 at = a64_bits(w, 14, 11);
    *op = a64_imm_operand(at);
    return a64_bits(w, 30, 30) || at < 8;
}

static bool general_source(u32 w, Operand *op) {
    u32 bits = element_bits(w, BY_LOWEST);
    *op = general(a64_bits(w, 9, 5), bits == 64 ? 64 : 32);
    return bits;
}

bool a64_simd_field(u32 w, A64Field field, Operand *op) {
    if (shapes[field].where)
        return shaped(w, &shapes[field], op);
    // clang-format off
    switch (field) {
    case GN_5:      return general_source(w, op);
    case GD:        *op = general(a64_bits(w, 4, 0), a64_bits(w, 30, 30) ? 64 : 32); return true;
    case LEFT:      return count_of_shift(w, true, op);
    case RIGHT:     return count_of_shift(w, false, op);
    case LEFT_ALL:  *op = a64_imm_operand(8u << a64_bits(w, 23, 22)); return true;
    case IMM_I:     *op = a64_imm_operand((i64)immediate_value(w)); return true;
    case BYTES_EXT: return bytes_ext(w, op);
    case IMM_XAR:   *op = a64_imm_operand(a64_bits(w, 15, 10)); return true;
    case LANE_SM3:  *op = a64_imm_operand(a64_bits(w, 13, 12)); return true;
    case TURN_11:   *op = a64_imm_operand(a64_bits(w, 12, 11)); return true;
    case TURN_13:   *op = a64_imm_operand(a64_bits(w, 14, 13)); return true;
    case TURN_12:   *op = a64_imm_operand(a64_bits(w, 12, 12) ? 3 : 1); return true;
    case TABLE:     *op = list(w, a64_bits(w, 9, 5), a64_bits(w, 14, 13) + 1, 8); return true;
    case TS:
    case TS_S:      return a64_bits(w, 24, 24) ? one_lane(w, op) : several(w, op);
    case TS_LANE:
    case TS_LANE_S: return one_lane(w, op);
    case BY_LIST:   *op = list_step(w); return true;
    default:        return false;
    }
    // clang-format on
}

/* The registers of a list: how many the operand says, after 31 comes 0. */
void a64_simd_registers(Insn *in) {
    u32 i = 0;
    for (const u8 *field = a64_fields[in->row]; *field; field++) {
        if (!a64_is_operand((A64Field)*field))
            continue;
        const Operand *op = &in->op[i++];
        bool is_loaded = *field == TS || *field == TS_LANE;
        bool is_list = is_loaded || *field == TS_S || *field == TS_LANE_S || *field == TABLE;
        for (u32 k = 0; is_list && k < (u32)op->disp; k++) {
            Reg r = (Reg)(A64_V0 + (op->no + k) % 32);
            regset_add(&in->vectors, r);
            if (is_loaded)
                regset_add(&in->writes, r);
        }
    }
}
