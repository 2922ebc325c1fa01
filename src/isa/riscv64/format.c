/* format.c: see format.h. */
#include "isa/riscv64/format.h"

// clang-format off
const u8 rv_formats[RV_FMT_COUNT][RV_FORMAT_FIELDS + 1] = {
    [RV_FMT_R] = {RD, RS1, RS2},       [RV_FMT_R1] = {RD, RS1},
    [RV_FMT_I] = {RD, RS1, IMM_I},     [RV_FMT_SH5] = {RD, RS1, SHAMT5}, [RV_FMT_SH6] = {RD, RS1, SHAMT6},
    [RV_FMT_U] = {RD, IMM_U},          [RV_FMT_J] = {RD, TARGET_J},      [RV_FMT_JR] = {RD, RS1, IMM_I},
    [RV_FMT_B] = {RS1, RS2, TARGET_B}, [RV_FMT_LOAD] = {RD, MEM_I},      [RV_FMT_STORE] = {RS2, MEM_S},
    [RV_FMT_LR] = {RD, MEM_0},         [RV_FMT_AMO] = {RD, RS2, MEM_0},
    [RV_FMT_CSR] = {RD, CSR_NO, RS1},  [RV_FMT_CSRI] = {RD, CSR_NO, ZIMM},

    [RV_FMT_FLOAD] = {FD, MEM_I},  [RV_FMT_FSTORE] = {FS2, MEM_S},
    [RV_FMT_FF] = {FD, FS1},       [RV_FMT_FFF] = {FD, FS1, FS2},
    [RV_FMT_XF] = {RD, FS1},       [RV_FMT_FX] = {FD, RS1},
    [RV_FMT_XFF] = {RD, FS1, FS2}, [RV_FMT_FXX] = {FD, RS1, RS2}, [RV_FMT_FI] = {FD, ZIMM},
    [RV_FMT_FF_RM] = {FD, FS1, ROUNDING},  [RV_FMT_FFF_RM] = {FD, FS1, FS2, ROUNDING},
    [RV_FMT_FFFF_RM] = {FD, FS1, FS2, FS3, ROUNDING},
    [RV_FMT_XF_RM] = {RD, FS1, ROUNDING},  [RV_FMT_FX_RM] = {FD, RS1, ROUNDING},

    [RV_FMT_C_I] = {C_RD, C_RD, C_IMM6},           [RV_FMT_C_LI] = {C_RD, FIX_X0, C_IMM6},
    [RV_FMT_C_LUI] = {C_RD, C_IMM_LUI},
    [RV_FMT_C_ADDI16SP] = {FIX_SP, FIX_SP, C_IMM_16SP}, [RV_FMT_C_ADDI4SPN] = {C_RD3, FIX_SP, C_IMM_4SPN},
    [RV_FMT_C_SLLI] = {C_RD, C_RD, C_SHAMT},       [RV_FMT_C_SHIFT] = {C_RS13, C_RS13, C_SHAMT},
    [RV_FMT_C_ANDI] = {C_RS13, C_RS13, C_IMM6},    [RV_FMT_C_R] = {C_RS13, C_RS13, C_RD3},
    [RV_FMT_C_MV] = {C_RD, FIX_X0, C_RS2},         [RV_FMT_C_ADD] = {C_RD, C_RD, C_RS2},
    [RV_FMT_C_J] = {FIX_X0, C_TARGET_J},           [RV_FMT_C_JR] = {FIX_X0, C_RD, FIX_ZERO},
    [RV_FMT_C_JALR] = {FIX_RA, C_RD, FIX_ZERO},    [RV_FMT_C_B] = {C_RS13, FIX_X0, C_TARGET_B},
    [RV_FMT_C_LW] = {C_RD3, C_MEM_W},     [RV_FMT_C_LD] = {C_RD3, C_MEM_D},
    [RV_FMT_C_SW] = {C_RD3, C_MEM_W},     [RV_FMT_C_SD] = {C_RD3, C_MEM_D},
    [RV_FMT_C_LWSP] = {C_RD, C_MEM_LWSP}, [RV_FMT_C_LDSP] = {C_RD, C_MEM_LDSP},
    [RV_FMT_C_SWSP] = {C_RS2, C_MEM_SWSP}, [RV_FMT_C_SDSP] = {C_RS2, C_MEM_SDSP},
    [RV_FMT_C_FLD] = {C_FD3, C_MEM_D},    [RV_FMT_C_FSD] = {C_FD3, C_MEM_D},
    [RV_FMT_C_FLDSP] = {C_FD, C_MEM_LDSP}, [RV_FMT_C_FSDSP] = {C_FS2, C_MEM_SDSP},
};
// clang-format on

/* Bits high–low of the word, moved to `to`. */
static u32 bits(u32 word, u32 high, u32 low, u32 to) {
    return (word >> low & (((u32)1 << (high - low + 1)) - 1)) << to;
}

static i64 sign_extend(u32 value, u32 width) {
    return (i32)(value << (32 - width)) >> (32 - width);
}

static i64 imm_s(u32 w) {
    return sign_extend(bits(w, 31, 25, 5) | bits(w, 11, 7, 0), 12);
}

static i64 imm_b(u32 w) {
    return sign_extend(bits(w, 31, 31, 12) | bits(w, 7, 7, 11) | bits(w, 30, 25, 5) | bits(w, 11, 8, 1), 13);
}

static i64 imm_j(u32 w) {
    return sign_extend(bits(w, 31, 31, 20) | bits(w, 19, 12, 12) | bits(w, 20, 20, 11) | bits(w, 30, 21, 1), 21);
}

/* Zero-extended offsets and immediates of compressed instructions: the manual's tables 26.3 and on. */
static u32 short_word(u32 w) {
    return bits(w, 5, 5, 6) | bits(w, 12, 10, 3) | bits(w, 6, 6, 2);
}
static u32 short_double(u32 w) {
    return bits(w, 6, 5, 6) | bits(w, 12, 10, 3);
}
static u32 load_word_sp(u32 w) {
    return bits(w, 3, 2, 6) | bits(w, 12, 12, 5) | bits(w, 6, 4, 2);
}
static u32 load_double_sp(u32 w) {
    return bits(w, 4, 2, 6) | bits(w, 12, 12, 5) | bits(w, 6, 5, 3);
}
static u32 store_word_sp(u32 w) {
    return bits(w, 8, 7, 6) | bits(w, 12, 9, 2);
}
static u32 store_double_sp(u32 w) {
    return bits(w, 9, 7, 6) | bits(w, 12, 10, 3);
}

static u32 short_shift(u32 w) {
    return bits(w, 12, 12, 5) | bits(w, 6, 2, 0);
}

static i64 short_16sp(u32 w) {
    u32 v = bits(w, 12, 12, 9) | bits(w, 4, 3, 7) | bits(w, 5, 5, 6) | bits(w, 2, 2, 5) | bits(w, 6, 6, 4);
    return sign_extend(v, 10);
}

static u32 short_4spn(u32 w) {
    return bits(w, 10, 7, 6) | bits(w, 12, 11, 4) | bits(w, 5, 5, 3) | bits(w, 6, 6, 2);
}

static i64 short_branch(u32 w) {
    u32 v = bits(w, 12, 12, 8) | bits(w, 6, 5, 6) | bits(w, 2, 2, 5) | bits(w, 11, 10, 3) | bits(w, 4, 3, 1);
    return sign_extend(v, 9);
}

static i64 short_jump(u32 w) {
    u32 v = bits(w, 12, 12, 11) | bits(w, 8, 8, 10) | bits(w, 10, 9, 8) | bits(w, 6, 6, 7) | bits(w, 7, 7, 6) |
            bits(w, 2, 2, 5) | bits(w, 11, 11, 4) | bits(w, 5, 3, 1);
    return sign_extend(v, 12);
}

static Operand reg(u8 cls, u32 no) {
    return (Operand){.kind = OPERAND_REG, .cls = cls, .no = (u8)no, .bits = 64, .base = REG_NONE, .index = REG_NONE};
}

static Operand x(u32 no) {
    return reg(RV_CLS_X, no);
}

static Operand f(u32 no) {
    return reg(RV_CLS_F, no);
}

static Operand imm(i64 value) {
    return (Operand){.kind = OPERAND_IMM, .bits = 64, .disp = value, .base = REG_NONE, .index = REG_NONE};
}

static Operand mem(u32 base, i64 disp) {
    return (Operand){
        .kind = OPERAND_MEM, .base = (u8)base, .index = REG_NONE, .scale = 1, .addr_bits = 64, .disp = disp};
}

static Operand target(u64 pc, i64 offset) {
    return imm((i64)(pc + (u64)offset));
}

Operand rv_field(u32 w, RvField field, u64 pc) {
    // clang-format off
    switch (field) {
    case RD:          return x(bits(w, 11, 7, 0));
    case RS1:         return x(bits(w, 19, 15, 0));
    case RS2:         return x(bits(w, 24, 20, 0));
    case FD:          return f(bits(w, 11, 7, 0));
    case FS1:         return f(bits(w, 19, 15, 0));
    case FS2:         return f(bits(w, 24, 20, 0));
    case FS3:         return f(bits(w, 31, 27, 0));
    case IMM_I:       return imm((i32)w >> 20);
    case IMM_U:       return imm((i32)(w & 0xfffff000));
    case SHAMT5:      return imm(bits(w, 24, 20, 0));
    case SHAMT6:      return imm(bits(w, 25, 20, 0));
    case ZIMM:        return imm(bits(w, 19, 15, 0));
    case CSR_NO:      return imm(bits(w, 31, 20, 0));
    case MEM_I:       return mem(bits(w, 19, 15, 0), (i32)w >> 20);
    case MEM_S:       return mem(bits(w, 19, 15, 0), imm_s(w));
    case MEM_0:       return mem(bits(w, 19, 15, 0), 0);
    case TARGET_B:    return target(pc, imm_b(w));
    case TARGET_J:    return target(pc, imm_j(w));
    case C_RD:        return x(bits(w, 11, 7, 0));
    case C_RS2:       return x(bits(w, 6, 2, 0));
    case C_FD:        return f(bits(w, 11, 7, 0));
    case C_FS2:       return f(bits(w, 6, 2, 0));
    case C_RD3:       return x(8 + bits(w, 4, 2, 0));
    case C_RS13:      return x(8 + bits(w, 9, 7, 0));
    case C_FD3:       return f(8 + bits(w, 4, 2, 0));
    case FIX_X0:      return x(RV_X0);
    case FIX_RA:      return x(RV_RA);
    case FIX_SP:      return x(RV_SP);
    case FIX_ZERO:    return imm(0);
    case C_IMM6:      return imm(sign_extend(short_shift(w), 6));
    case C_IMM_LUI:   return imm(sign_extend(short_shift(w) << 12, 18));
    case C_SHAMT:     return imm(short_shift(w));
    case C_IMM_16SP:  return imm(short_16sp(w));
    case C_IMM_4SPN:  return imm(short_4spn(w));
    case C_MEM_W:     return mem(8 + bits(w, 9, 7, 0), short_word(w));
    case C_MEM_D:     return mem(8 + bits(w, 9, 7, 0), short_double(w));
    case C_MEM_LWSP:  return mem(RV_SP, load_word_sp(w));
    case C_MEM_LDSP:  return mem(RV_SP, load_double_sp(w));
    case C_MEM_SWSP:  return mem(RV_SP, store_word_sp(w));
    case C_MEM_SDSP:  return mem(RV_SP, store_double_sp(w));
    case C_TARGET_B:  return target(pc, short_branch(w));
    case C_TARGET_J:  return target(pc, short_jump(w));
    case ROUNDING:
    case FIELD_END:
        break;
    }
    // clang-format on
    CHECK(false, "a field without an operand");
}
