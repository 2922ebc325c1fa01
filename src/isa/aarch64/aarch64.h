/* aarch64.h: registers, operands and the words in which aarch64 semantics are written.
 *
 * A meaning is a function `a64_family(l, in, …)` bound to an encoding in rows.def. It reads operands by position, never by
 * register number, so that it also serves when the register is only known later. Which width an operation has, where one row is
 * for several, is its operands' (Operand.bits).
 */
#ifndef ISA_AARCH64_H
#define ISA_AARCH64_H

#include "isa/isa.h"

extern const Isa isa_aarch64;

enum {
    A64_X0,
    A64_LR = 30,
    A64_SP,
    A64_V0,
    A64_N = A64_V0 + 32, /* the flags */
    A64_Z,
    A64_C,
    A64_V,
    A64_RESERVED_ADDRESS, /* of load and store exclusive */
    A64_RESERVED_VALUE,
    A64_RESERVED_HIGH, /* of pairs: the second one's value */
    A64_THREAD,        /* tpidr_el0 */
    A64_REG_COUNT,
};

/* The number of an operand that is xzr or wzr: reads as zero, and nothing is written to it. */
enum { A64_ZERO = 0xfd };

/* Classes of register operands: general ones, and vector registers, of which an operand is the low Operand.bits. */
enum { A64_CLS_X = 1, A64_CLS_V };

/* ------------------------------------------------------------------------------------------------------------- operands */

static inline u64 a64_imm(const Insn *in, int i) {
    return (u64)in->op[i].disp;
}
/* The integer type of operand i. */
static inline Ty a64_ty(const Insn *in, int i) {
    return ty_int(in->op[i].bits);
}
/* Operand i, a general register or an immediate, as an integer type: its low bits. */
Val a64_int(Lifter *l, const Insn *in, int i, Ty t);
/* The same, in its own width. */
static inline Val a64_x(Lifter *l, const Insn *in, int i) {
    return a64_int(l, in, i, a64_ty(in, i));
}
/* Set general register operand i: what is narrower is zero-extended. Or a pointer. */
void a64_set(Lifter *l, const Insn *in, int i, Val v);

/* Vector register operand i in any type of at most 128 bits: its low bits. */
static inline Val a64_v(Lifter *l, const Insn *in, int i, Ty t) {
    return reg_read(l, (Reg)(A64_V0 + in->op[i].no), t);
}
/* Set all of it: what is above v becomes zero. */
static inline void a64_set_v(Lifter *l, const Insn *in, int i, Val v) {
    reg_write(l, (Reg)(A64_V0 + in->op[i].no), v);
}

/* The address of memory operand i, and what the base register becomes afterwards, where the instruction says so. */
Val a64_address(Lifter *l, const Insn *in, int i);
void a64_write_back(Lifter *l, const Insn *in, int i);
Val a64_plain_address(Lifter *l, const Operand *at); /* as Isa.address has it */

/* Insn.prefixes: the base register of the memory operand is written, too. Of forms (form.c): flags that nobody reads, from this bit on; and the condition of a branch that
 * Insn.joined says the instruction has behind it. */
enum { A64_WRITES_BACK = 1, A64_DEAD_SHIFT = 4, A64_JOINED_SHIFT = 8 };

/* Behind the operands of sbfm and ubfm: how far the field is shifted to the top, and down again; of bfm: the mask of the bits that are set, which come from the rotated source. */
enum { A64_BIT_FIELD_UP = 4, A64_BIT_FIELD_DOWN, A64_BIT_FIELD_MASK = 4 };
/* Behind those of fmov: the constant. Behind those of movi and the like: 64 bits of it, as they are used, which are inverted where the row says so. */
enum { A64_FLOAT_BITS = 2, A64_VECTOR_BITS = 2 };

/* -------------------------------------------------------------------------------------------------------------- flags */

/* What is only done if `cond` holds; else the flags become nzcv, which is a constant. */
typedef struct A64If {
    Val cond;
    u32 nzcv;
} A64If;

/* flags.c: what arithmetic leaves behind, from which flags and conditions are made when they are asked for. `only` may be NULL. */
void a64_flags_add(Lifter *l, Val a, Val b, Val r, const A64If *only);
void a64_flags_sub(Lifter *l, Val a, Val b, Val r, const A64If *only);
void a64_flags_carry(Lifter *l, Val a, Val b, Val r, Val carry, bool subtracts); /* with the carry before */
void a64_flags_logic(Lifter *l, Val r);
void a64_flags_fcmp(Lifter *l, Val a, Val b, const A64If *only);
void a64_flags_bits(Lifter *l, Val nzcv); /* I32: the lowest four bits */
Val a64_nzcv(Lifter *l);                  /* likewise */
static inline void a64_set_flag(Lifter *l, Reg f, Val v) {
    reg_write(l, f, v);
}
static inline Val a64_flag(Lifter *l, Reg f) {
    return reg_read(l, f, I1);
}

/* The manual, C1.2.4: EQ NE CS CC MI PL VS VC HI LS GE LT GT LE AL NV. */
typedef enum A64Cond {
    A64_EQ,
    A64_NE,
    A64_CS,
    A64_CC,
    A64_MI,
    A64_PL,
    A64_VS,
    A64_VC,
    A64_HI,
    A64_LS,
    A64_GE,
    A64_LT,
    A64_GT,
    A64_LE,
    A64_AL,
    A64_NV,
} A64Cond;
Val a64_condition(Lifter *l, A64Cond c);

/* ----------------------------------------------------------------------------------------------------------- the table */

enum {
    A64_ROW_NONE,
#define INSN(name, ...) A64_ROW_##name,
#define DEVIATES(name, ...) A64_ROW_##name,
#include "isa/aarch64/rows.def"
#undef INSN
#undef DEVIATES
    A64_ROW_COUNT,
};

LatheStatus a64_decode(const u8 *bytes, size_t size, u64 pc, Insn *in);
Effect a64_effect(const Insn *in);
bool a64_branch_condition(const Insn *branch, Reg *flags, Pred *taken);
bool a64_view(const u8 *bytes, size_t size, u64 pc, InsnView *view);
const char *a64_opcode_name(u32 opcode);
int a64_format(const u8 *bytes, size_t size, u64 pc, char *text, size_t text_size);

#endif
