/* riscv64.h: registers, operands and the words in which riscv64 semantics are written.
 *
 * A meaning is a function `rv_family(l, in, …)` bound to an encoding in rows.def. It reads operands by position, never by
 * register number, so that it also serves when the register is only known later. Compressed instructions are decoded into
 * the operands of the instruction that they stand for, and have its row and meaning.
 */
#ifndef ISA_RISCV64_H
#define ISA_RISCV64_H

#include "isa/isa.h"

extern const Isa isa_riscv64;

enum {
    RV_X0, /* no register: reads as zero, and nothing is written to it */
    RV_RA,
    RV_SP,
    RV_T0 = 5,
    RV_S0 = 8,
    RV_A0 = 10,
    RV_F0 = 32,
    RV_FA0 = RV_F0 + 10,
    RV_RESERVED_ADDRESS = RV_F0 + 32, /* of lr and sc */
    RV_RESERVED_VALUE,
    RV_REG_COUNT,
};

/* Classes of register operands. */
enum { RV_CLS_X = 1, RV_CLS_F };

/* ------------------------------------------------------------------------------------------------------------- operands */

/* Operand i, an integer register or an immediate, as an integer type (its low bits). */
Val rv_int(Lifter *l, const Insn *in, int i, Ty t);
static inline Val rv_x(Lifter *l, const Insn *in, int i) {
    return rv_int(l, in, i, I64);
}
static inline u64 rv_imm(const Insn *in, int i) {
    return (u64)in->op[i].disp;
}
/* Are operands i and k one register? */
bool rv_same(const Insn *in, int i, int k);

/* Set integer register operand i: 64 bits, 32 bits sign-extended, one bit zero-extended, or a pointer. */
void rv_set(Lifter *l, const Insn *in, int i, Val v);

/* The address of memory operand i. */
Val rv_address(Lifter *l, const Insn *in, int i);
Val rv_plain_address(Lifter *l, const Operand *at); /* as Isa.address has it */

/* ----------------------------------------------------------------------------------------------------------- the table */

/* What decoding needs of a row; its meaning is table.c's. */
typedef struct RvRow {
    u8 format; /* of its operands: format.h */
    u16 base;  /* compressed: the row of what it stands for; else itself */
} RvRow;

enum {
    RV_ROW_NONE,
#define INSN(name, ...) RV_ROW_##name,
#define DEVIATES(name, ...) RV_ROW_##name,
#define SHORT(name, ...) RV_ROW_##name,
#define FUSED(name, ...) RV_ROW_##name,
#include "isa/riscv64/rows.def"
#undef INSN
#undef DEVIATES
#undef SHORT
#undef FUSED
    RV_ROW_COUNT,
};

const RvRow *rv_row(u32 row);

LatheStatus rv_decode(const u8 *bytes, size_t size, u64 pc, Insn *in);
Effect rv_effect(const Insn *in);
bool rv_condition(const Insn *branch, Reg *flags, Pred *taken);
bool rv_view(const u8 *bytes, size_t size, u64 pc, InsnView *view);
const char *rv_opcode_name(u32 opcode);
int rv_format(const u8 *bytes, size_t size, u64 pc, char *text, size_t text_size);

#endif
