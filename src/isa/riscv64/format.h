/* format.h: which operands an instruction has, in which bits they are, and how they are written.
 *
 * An operand is a Field; a Format is a list of them, in the order of the manual's assembly. Compressed formats give the
 * operands of what the instruction stands for, so that fields may also be fixed registers and constants.
 */
#ifndef ISA_RISCV64_FORMAT_H
#define ISA_RISCV64_FORMAT_H

#include "isa/riscv64/riscv64.h"

// clang-format off
typedef enum RvField {
    FIELD_END,
    RD, RS1, RS2,           /* integer registers, bits 11–7, 19–15, 24–20 */
    FD, FS1, FS2, FS3,      /* floating-point registers: the same, and 31–27 */
    IMM_I, IMM_U,           /* sign-extended; IMM_U with its twelve zeros */
    SHAMT5, SHAMT6, ZIMM,   /* unsigned; ZIMM in bits 19–15 */
    CSR_NO,                 /* bits 31–20 */
    MEM_I, MEM_S, MEM_0,    /* offset(rs1): the offset of loads, of stores, none */
    TARGET_B, TARGET_J,     /* of branches and jumps */
    ROUNDING,               /* bits 14–12; no operand, but written */
    C_RD, C_RS2, C_FD, C_FS2, /* of 16 bits: registers in bits 11–7 and 6–2 */
    C_RD3, C_RS13, C_FD3,     /* x8–x15 in bits 4–2 and 9–7; f8–f15 in bits 4–2 */
    FIX_X0, FIX_RA, FIX_SP, FIX_ZERO, /* registers that the instruction implies, and the immediate 0 */
    C_IMM6, C_IMM_LUI, C_SHAMT, C_IMM_16SP, C_IMM_4SPN,
    C_MEM_W, C_MEM_D, C_MEM_LWSP, C_MEM_LDSP, C_MEM_SWSP, C_MEM_SDSP,
    C_TARGET_B, C_TARGET_J,
} RvField;

typedef enum RvFormat {
    RV_FMT_NONE, RV_FMT_R, RV_FMT_R1, RV_FMT_I, RV_FMT_SH5, RV_FMT_SH6, RV_FMT_U, RV_FMT_J, RV_FMT_JR, RV_FMT_B,
    RV_FMT_LOAD, RV_FMT_STORE, RV_FMT_LR, RV_FMT_AMO, RV_FMT_FENCE, RV_FMT_CSR, RV_FMT_CSRI,
    /* floating point: registers by letter, result first; _RM: with a rounding mode */
    RV_FMT_FLOAD, RV_FMT_FSTORE, RV_FMT_FF, RV_FMT_FFF, RV_FMT_XF, RV_FMT_FX, RV_FMT_XFF, RV_FMT_FXX, RV_FMT_FI,
    RV_FMT_FF_RM, RV_FMT_FFF_RM, RV_FMT_FFFF_RM, RV_FMT_XF_RM, RV_FMT_FX_RM,
    /* compressed */
    RV_FMT_C_I, RV_FMT_C_LI, RV_FMT_C_LUI, RV_FMT_C_ADDI16SP, RV_FMT_C_ADDI4SPN, RV_FMT_C_SLLI, RV_FMT_C_SHIFT,
    RV_FMT_C_ANDI, RV_FMT_C_R, RV_FMT_C_MV, RV_FMT_C_ADD, RV_FMT_C_J, RV_FMT_C_JR, RV_FMT_C_JALR, RV_FMT_C_B,
    RV_FMT_C_LW, RV_FMT_C_LD, RV_FMT_C_SW, RV_FMT_C_SD, RV_FMT_C_LWSP, RV_FMT_C_LDSP, RV_FMT_C_SWSP, RV_FMT_C_SDSP,
    RV_FMT_C_FLD, RV_FMT_C_FSD, RV_FMT_C_FLDSP, RV_FMT_C_FSDSP,
    RV_FMT_COUNT,
} RvFormat;
// clang-format on

enum { RV_FORMAT_FIELDS = 5 };

/* Ended by FIELD_END. */
extern const u8 rv_formats[RV_FMT_COUNT][RV_FORMAT_FIELDS + 1];

/* The operand in a field of the word at pc. */
Operand rv_field(u32 word, RvField field, u64 pc);

/* The rounding mode of a floating-point instruction. */
enum { RV_RNE, RV_RTZ, RV_RDN, RV_RUP, RV_RMM, RV_DYN = 7 };
static inline u32 rv_rounding(const Insn *in) {
    return in->word >> 12 & 7;
}

#endif
