/* families.h: the meanings of aarch64 instructions, by file. */
#ifndef ISA_AARCH64_FAMILIES_H
#define ISA_AARCH64_FAMILIES_H

#include "isa/aarch64/aarch64.h"
#include "isa/aarch64/families_float.h"
#include "isa/aarch64/families_memory.h"
#include "isa/aarch64/families_simd.h"
#include "isa/aarch64/field.h"

/* arith.c: op0 = op1 op op2, where op2 is shifted or extended by op3 */
typedef enum A64Select { A64_SELECT, A64_SELECT_PLUS_ONE, A64_SELECT_NOT, A64_SELECT_MINUS } A64Select;
void a64_address_of(Lifter *l, const Insn *in);
void a64_add(Lifter *l, const Insn *in);
void a64_sub(Lifter *l, const Insn *in);
void a64_adds(Lifter *l, const Insn *in);
void a64_subs(Lifter *l, const Insn *in);
void a64_add_carry(Lifter *l, const Insn *in, bool subtracts, bool sets);
void a64_logic(Lifter *l, const Insn *in, Op op, bool inverts);
void a64_ands(Lifter *l, const Insn *in, bool inverts);
void a64_move(Lifter *l, const Insn *in);
void a64_move_keep(Lifter *l, const Insn *in);
void a64_shift(Lifter *l, const Insn *in, A64Shift kind);
void a64_extract(Lifter *l, const Insn *in);
void a64_multiply_add(Lifter *l, const Insn *in, Op op);
void a64_multiply_long(Lifter *l, const Insn *in, Op op, bool is_signed);
void a64_multiply_high(Lifter *l, const Insn *in, bool is_signed);
void a64_divide(Lifter *l, const Insn *in, bool is_signed);
void a64_select(Lifter *l, const Insn *in, A64Select kind);
void a64_compare_if(Lifter *l, const Insn *in, Op op);
Val a64_shifted(Lifter *l, Val v, A64Shift kind, Val count); /* below the width */

/* bits.c */
void a64_bit_field(Lifter *l, const Insn *in, bool is_signed);
void a64_bit_field_insert(Lifter *l, const Insn *in);
void a64_unary(Lifter *l, const Insn *in, const char *intrinsic);
void a64_reverse(Lifter *l, const Insn *in, u32 part_bits);
void a64_count_zeros(Lifter *l, const Insn *in);
void a64_count_sign(Lifter *l, const Insn *in);
void a64_crc32(Lifter *l, const Insn *in, u32 bytes, bool castagnoli);
void a64_rotate_into_flags(Lifter *l, const Insn *in);
void a64_set_flags(Lifter *l, const Insn *in, u32 bits);
void a64_invert_carry(Lifter *l, const Insn *in);
void a64_flags_to_external(Lifter *l, const Insn *in);
void a64_flags_from_external(Lifter *l, const Insn *in);

/* flow.c */
void a64_jump(Lifter *l, const Insn *in);
void a64_call(Lifter *l, const Insn *in);
void a64_jump_register(Lifter *l, const Insn *in);
void a64_branch(Lifter *l, const Insn *in);
void a64_branch_zero(Lifter *l, const Insn *in, Pred p);
void a64_branch_bit(Lifter *l, const Insn *in, Pred p);

#endif
