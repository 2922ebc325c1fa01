/* field.h: which operands an instruction has, in which bits they are, and what it does to them.
 *
 * A row lists its fields in the order of the manual's assembly. A field is one operand, or, at the end, a word about flags. Names of registers
 * say where they are (D and T: bits 4–0, N: 9–5, M: 20–16, A and T2: 14–10), their width (R: by bit 31; W, X: 32 or 64 bits; B, H, S, D, Q: of a vector
 * register; F: by bits 23–22), and whether they are written: D and T are, the others and those with _S (a source) are only read, and those with _RW both.
 */
#ifndef ISA_AARCH64_FIELD_H
#define ISA_AARCH64_FIELD_H

#include "isa/aarch64/aarch64.h"

// clang-format off
typedef enum A64Field {
    FIELD_END,
    SETS, READS,                            /* the flags; no operands */
    /* general registers */
    RD, RD_SP, RD_RW, RN, RN_SP, RM, RA,
    XD, XD_RW, WD, XN, XN_SP, WN, XM, XM_SP, WM, XA,
    RT_S, WT, XT, WT_S, XT_S, WT2, XT2, WT2_S, XT2_S,
    WS, WS_RW, XS_RW, WS_S, XS_S,           /* bits 20–16: what exclusive stores and atomic operations have there */
    WS2_RW, XS2_RW, WT2_NEXT, XT2_NEXT,     /* of casp: the register after that, which must be an even one, and the one after T */
    /* immediates */
    IMM12, IMM_LOGICAL, IMM16, IMM16_SHIFTED, IMM16_NOT, HALFWORD, IMMR, IMMS, IMM5, IMM6, FLAG_MASK, BIT,
    SHIFT, EXTEND,                          /* of the operand before: how far; which way is in the word */
    COND, COND_LOW, FLAGS4,                 /* bits 15–12 and 3–0; the flags if not */
    IMM16_CALL, HINT, BARRIER, SYSREG,      /* bits 20–5, 11–5, 11–8, 19–5 */
    PREFETCH,                               /* bits 4–0 */
    /* addresses in code */
    ADR, ADRP, TARGET26, TARGET19, TARGET14,
    /* memory */
    MEM, MEM_12, MEM_9, MEM_PRE, MEM_REG, MEM_LITERAL, MEM_7, MEM_7_PRE, MEM_PAC, MEM_PAC_PRE, MEM_LINE,
    XD_AT, XS_AT, XN_LEFT, XN_SET,          /* of copies: two addresses, how much is left; how much is left to set */
    MEM_POST, BY_9, BY_7,                   /* afterwards the base becomes more, by the operand behind it */
    /* scalars in vector registers */
    FD, FD_RW, FN, FM, FA,
    BT, HT, ST, DT, QT, BT_S, HT_S, ST_S, DT_S, QT_S,
    ST2, DT2, QT2, ST2_S, DT2_S, QT2_S,
    HD, SD, DD, QD, HN, SN, DN, QN, HM, SM, DM, QM,
    QD_HIGH, QN_HIGH,                       /* the upper half */
    FIMM8, FBITS,                           /* bits 20–13; 64 minus bits 15–10 */
#define FIELD(name, use) name,
#include "isa/aarch64/simd_fields.def"
#undef FIELD
    FIELD_COUNT,
} A64Field;

/* What an instruction does to the register in a field. */
typedef enum A64Use { USE_READ, USE_WRITTEN, USE_BOTH } A64Use;
// clang-format on

enum { A64_FIELDS = 8 };

/* Ended by FIELD_END; of each row. */
extern const u8 a64_fields[][A64_FIELDS + 1];

/* The operand in a field of the word at pc. False: the word is no instruction. */
bool a64_field(u32 word, A64Field field, u64 pc, Operand *op);
/* simd_field.c: the same for the fields of simd_fields.def. */
bool a64_simd_field(u32 word, A64Field field, Operand *op);

static inline bool a64_is_operand(A64Field field) {
    return field > READS;
}
A64Use a64_use(A64Field field);
bool a64_writes_back(A64Field field); /* is it memory whose base register is changed? */

/* For a64_field and a64_simd_field. */
static inline u32 a64_bits(u32 word, u32 high, u32 low) {
    return word >> low & (((u32)1 << (high - low + 1)) - 1);
}
Operand a64_vector_operand(u32 no, u32 bits);
Operand a64_imm_operand(i64 value);
/* simd_field.c: the bits of an immediate of 8 bits (the manual, VFPExpandImm) as a float of so many. */
u64 a64_float_immediate(u32 imm8, u32 bits);

/* SHIFT, and EXTEND's option, of the word. */
typedef enum A64Shift { A64_LSL, A64_LSR, A64_ASR, A64_ROR } A64Shift;

#endif
