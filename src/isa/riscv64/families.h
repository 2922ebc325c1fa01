/* families.h: the meanings of riscv64 instructions, by file. */
#ifndef ISA_RISCV64_FAMILIES_H
#define ISA_RISCV64_FAMILIES_H

#include "isa/riscv64/float_soft.h"
#include "isa/riscv64/riscv64.h"

/* arith.c: op0 = op1 op op2; 32-bit results are sign-extended */
typedef enum RvShift { RV_SLL, RV_SRL, RV_SRA, RV_ROL, RV_ROR } RvShift;
typedef enum RvDivide { RV_DIV, RV_DIVU, RV_REM, RV_REMU } RvDivide;
void rv_load_upper(Lifter *l, const Insn *in);
void rv_add_upper_pc(Lifter *l, const Insn *in);
void rv_arith(Lifter *l, const Insn *in, Op op, u32 bits);
void rv_shift(Lifter *l, const Insn *in, RvShift kind, u32 bits);
void rv_set_if(Lifter *l, const Insn *in, Pred p);
void rv_multiply_high(Lifter *l, const Insn *in, bool signed_a, bool signed_b);
void rv_divide(Lifter *l, const Insn *in, RvDivide kind, u32 bits);

/* bits.c */
typedef enum RvBitOp { RV_BIT_CLEAR, RV_BIT_EXTRACT, RV_BIT_INVERT, RV_BIT_SET } RvBitOp;
void rv_add_scaled(Lifter *l, const Insn *in, u32 shift, bool unsigned_word); /* op0 = (op1 << shift) + op2 */
void rv_shift_unsigned_word(Lifter *l, const Insn *in);
void rv_arith_not(Lifter *l, const Insn *in, Op op); /* with op2 inverted */
void rv_count(Lifter *l, const Insn *in, const char *intrinsic, Ty t);
void rv_extreme(Lifter *l, const Insn *in, const char *intrinsic);
void rv_extend(Lifter *l, const Insn *in, Ty t, bool is_signed);
void rv_fill_bytes(Lifter *l, const Insn *in); /* each that is not zero becomes ones */
void rv_reverse_bytes(Lifter *l, const Insn *in);
void rv_reverse_bits(Lifter *l, const Insn *in);
void rv_pack(Lifter *l, const Insn *in, Ty half, Ty whole);
void rv_permute(Lifter *l, const Insn *in, u32 bits);
void rv_bit(Lifter *l, const Insn *in, RvBitOp op);
void rv_multiply_carryless(Lifter *l, const Insn *in, u32 from_bit); /* 64 bits of the product */
void rv_zero_if(Lifter *l, const Insn *in, Pred p);                  /* op0 = op2 p 0 ? 0 : op1 */

/* memory.c */
void rv_load(Lifter *l, const Insn *in, Ty t, bool is_signed);
void rv_store(Lifter *l, const Insn *in, Ty t);
void rv_load_reserved(Lifter *l, const Insn *in, Ty t);
void rv_store_conditional(Lifter *l, const Insn *in, Ty t);
void rv_amo(Lifter *l, const Insn *in, Rmw op, Ty t);
void rv_fence(Lifter *l, const Insn *in);

/* flow.c */
void rv_jump(Lifter *l, const Insn *in);
void rv_jump_register(Lifter *l, const Insn *in);
void rv_far_jump(Lifter *l, const Insn *in);
void rv_branch(Lifter *l, const Insn *in, Pred p);
void rv_fence_code(Lifter *l, const Insn *in);
void rv_environment_call(Lifter *l, const Insn *in);
void rv_break(Lifter *l, const Insn *in);
void rv_illegal(Lifter *l, const Insn *in);

/* csr_access.c */
typedef enum RvCsrOp { RV_CSR_WRITE, RV_CSR_SET, RV_CSR_CLEAR } RvCsrOp;
void rv_csr(Lifter *l, const Insn *in, RvCsrOp op);

/* float.c, float_order.c, float_move.c, float_convert.c */
typedef enum RvSign { RV_SIGN_TAKE, RV_SIGN_NOT, RV_SIGN_XOR } RvSign;
void rv_float_arith(Lifter *l, const Insn *in, RvSoftOp op, Ty t);
void rv_float_compare(Lifter *l, const Insn *in, FPred p, bool signaling, Ty t);
void rv_float_compare_quietly(Lifter *l, const Insn *in, FPred p,
                              Ty t); /* frflags op3; compare op0, op1, op2; fsflags op3 */
void rv_float_extreme(Lifter *l, const Insn *in, bool largest, bool propagates, Ty t);
void rv_float_class(Lifter *l, const Insn *in, Ty t);
void rv_float_sign(Lifter *l, const Insn *in, RvSign op, Ty t);
void rv_float_load(Lifter *l, const Insn *in, Ty t);
void rv_float_store(Lifter *l, const Insn *in, Ty t);
void rv_float_to_bits(Lifter *l, const Insn *in, Ty t);
void rv_float_from_bits(Lifter *l, const Insn *in, Ty t);
void rv_float_constant(Lifter *l, const Insn *in, Ty t);
void rv_float_round(Lifter *l, const Insn *in, Ty t, bool tell_inexact);
void rv_float_to_int(Lifter *l, const Insn *in, Ty from, Ty to, bool is_signed);
void rv_float_to_int_modular(Lifter *l, const Insn *in);
void rv_float_from_int(Lifter *l, const Insn *in, Ty from, bool is_signed, Ty to);
void rv_float_widen(Lifter *l, const Insn *in);

/* float_half.c */
void rv_half_arith(Lifter *l, const Insn *in, RvSoftOp op);
void rv_half_round(Lifter *l, const Insn *in, bool tell_inexact);
void rv_half_compare(Lifter *l, const Insn *in, FPred p, bool signaling);
void rv_half_extreme(Lifter *l, const Insn *in, bool largest, bool propagates);
void rv_half_class(Lifter *l, const Insn *in);
void rv_half_sign(Lifter *l, const Insn *in, RvSign op);
void rv_half_to_int(Lifter *l, const Insn *in, Ty to, bool is_signed);
void rv_half_from_int(Lifter *l, const Insn *in, Ty from, bool is_signed);
void rv_half_from_float(Lifter *l, const Insn *in, Ty from);
void rv_half_to_float(Lifter *l, const Insn *in, Ty to);

#endif
