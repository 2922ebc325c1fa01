/* x86_64.h: the words in which x86-64 semantics are written; facts.h has registers and operand classes.
 *
 * A meaning is a function `family(l, in, …)` bound to mnemonics in rows.def. It reads operands by position, never by register
 * number, so that it also serves when the register is only known later; registers that the architecture fixes (rcx of a
 * shift, rsp of a push) go by name.
 */
#ifndef ISA_X86_64_H
#define ISA_X86_64_H

#include "isa/isa.h"
#include "isa/x86_64/facts.h"

extern const Isa isa_x86_64;

/* ------------------------------------------------------------------------------------------------------------- operands */

static inline bool is_mem(const Insn *in, int i) {
    return in->op[i].kind == OPERAND_MEM;
}
static inline bool is_reg(const Insn *in, int i) {
    return in->op[i].kind == OPERAND_REG;
}
static inline bool is_imm(const Insn *in, int i) {
    return in->op[i].kind == OPERAND_IMM;
}
static inline bool is_cls(const Insn *in, int i, int cls) {
    return is_reg(in, i) && in->op[i].cls == cls;
}
static inline u32 width(const Insn *in, int i) {
    return in->op[i].bits;
}

/* Operand i as an integer of its own width. An immediate has the width of operand 0. */
Val operand(Lifter *l, const Insn *in, int i);
/* Operand i as type t: the low bits of a register, or t loaded from memory (align: the alignment its address is known to
 * have because the CPU would fault otherwise; 0: none). */
Val operand_as(Lifter *l, const Insn *in, int i, Ty t);
Val operand_aligned(Lifter *l, const Insn *in, int i, Ty t);

/* Write a general register or memory by the width of v: 8 and 16 bits keep the rest of a register, 32 bits clear it. For
 * vector registers: a v narrower than 128 bits replaces the low bits and keeps the others. */
void set_operand(Lifter *l, const Insn *in, int i, Val v);
/* The same, but the rest of a vector register's low 128 bits is cleared. */
void set_operand_zext(Lifter *l, const Insn *in, int i, Val v);
void set_operand_aligned(Lifter *l, const Insn *in, int i, Val v);

/* Leaves the function if an address is not aligned that has to be, and the access itself would not show it. */
void check_aligned(Lifter *l, const Insn *in, Val ptr, u32 align);

/* The address of memory operand i; computed once per instruction. */
Val address(Lifter *l, const Insn *in, int i);
Val plain_address(Lifter *l, const Operand *at); /* as Isa.address has it */
/* The same as an integer, without segment base (lea). */
Val effective_address(Lifter *l, const Insn *in, int i);

/* A 64-bit offset into a segment as an address. */
Val segmented(Lifter *l, Val offset, u8 seg);
Val segment_base(Lifter *l, u8 seg);

/* General registers by name. Writing follows the rules of set_operand. */
Val gp(Lifter *l, Reg r, u32 bits);
void set_gp(Lifter *l, Reg r, Val v);
void set_gp_high(Lifter *l, Reg r, Val v); /* ah, ch, dh, bh */

Val imm(Lifter *l, const Insn *in, int i, Ty t); /* an immediate operand in a given type */
static inline u64 imm_value(const Insn *in, int i) {
    return (u64)in->op[i].disp;
}

void push(Lifter *l, const Insn *in, Val v);
Val pop(Lifter *l, const Insn *in, u32 bits);

/* Does memory at the operand have to be accessed atomically? */
static inline bool locked(const Insn *in) {
    return in->prefixes & PREFIX_LOCK;
}

/* ---------------------------------------------------------------------------------------------------------------- flags */

/* A flag as i1, and setting it. */
static inline Val flag(Lifter *l, Reg f) {
    return reg_read(l, f, I1);
}
static inline void set_flag(Lifter *l, Reg f, Val v) {
    reg_write(l, f, v);
}
void set_flag_const(Lifter *l, Reg f, bool v);
Val flag_int(Lifter *l, Reg f, Ty t); /* 0 or 1 */

/* Flags of a result: nothing is computed before somebody asks. Operands are the original ones. */
enum { SET_CF = 1, SET_PF = 2, SET_AF = 4, SET_ZF = 8, SET_SF = 16, SET_OF = 32, SET_ALL = 63, SET_SZP = 26 };
void flags_add(Lifter *l, Val a, Val b, Val r, u32 which);
void flags_sub(Lifter *l, Val a, Val b, Val r, u32 which);
/* All flags, of a + b + carry and a - b - borrow; mid is a + b or a - b. */
void flags_adc(Lifter *l, Val a, Val b, Val r, Val carry);
void flags_sbb(Lifter *l, Val a, Val b, Val r, Val carry);
void flags_logic(Lifter *l, Val r, u32 which); /* CF, OF, AF clear; S, Z, P of r */
void flags_fcmp(Lifter *l, Val a, Val b); /* Z, P, C of an unordered compare; O, S, A clear (fast floating point) */

/* The 16 conditions in the order of their encoding. */
typedef enum Cond {
    COND_O,
    COND_NO,
    COND_B,
    COND_AE,
    COND_E,
    COND_NE,
    COND_BE,
    COND_A,
    COND_S,
    COND_NS,
    COND_P,
    COND_NP,
    COND_L,
    COND_GE,
    COND_LE,
    COND_G,
} Cond;
Val condition(Lifter *l, Cond c);

/* rflags as pushf shows them, and setting the ones user code may set. */
Val rflags(Lifter *l);
void set_rflags(Lifter *l, Val v, u32 bits);

/* ----------------------------------------------------------------------------------------------------------- the table */

typedef void Meaning(Lifter *l, const Insn *in);

typedef struct Row {
    const char *flags; /* effect on ODISZAPC: - keep, m modify, u undefined, 0/1 set */
    Meaning *lift;
    const char *deviation;
} Row;

/* Row number of a Zydis mnemonic: 0 if there is none. Row numbers are mnemonics. */
u32 x86_row(u32 mnemonic);

void x86_refine(Insn *in); /* completes a decoded instruction by what its row needs */
LatheStatus x86_decode(const u8 *bytes, size_t size, u64 pc, Insn *in);
int x86_format(const u8 *bytes, size_t size, u64 pc, char *text, size_t text_size);
Effect x86_effect(const Insn *in);
bool x86_condition(const Insn *branch, Reg *flags, Pred *taken);

#endif
