/* families_simd.h: the meanings of AdvSIMD and crypto, by file. */
#ifndef ISA_AARCH64_FAMILIES_SIMD_H
#define ISA_AARCH64_FAMILIES_SIMD_H

#include "isa/aarch64/aarch64.h"
#include "isa/aarch64/float_soft.h"

/* Something that is done in each lane of one or two vectors of integers. */
typedef Val A64Lane(Lifter *l, Val a);
typedef Val A64Lanes(Lifter *l, Val a, Val b);

/* simd_lanes.c: these. */
A64Lane a64_lane_abs, a64_lane_neg, a64_lane_not, a64_lane_bit_count, a64_lane_zeros, a64_lane_signs,
    a64_lane_reverse_bits, a64_lane_sat_abs, a64_lane_sat_neg, a64_lane_reciprocal, a64_lane_root;
A64Lanes a64_lanes_bic, a64_lanes_orn, a64_lanes_smax, a64_lanes_smin, a64_lanes_umax, a64_lanes_umin, a64_lanes_sabd,
    a64_lanes_uabd, a64_lanes_shadd, a64_lanes_uhadd, a64_lanes_srhadd, a64_lanes_urhadd, a64_lanes_shsub,
    a64_lanes_uhsub, a64_lanes_sqadd, a64_lanes_uqadd, a64_lanes_sqsub, a64_lanes_uqsub, a64_lanes_suqadd,
    a64_lanes_usqadd, a64_lanes_pmul, a64_lanes_sqdmulh, a64_lanes_sqrdmulh, a64_lanes_eq, a64_lanes_sgt, a64_lanes_sge,
    a64_lanes_ugt, a64_lanes_uge, a64_lanes_test;

/* simd_arith.c: op0 = op(op1, op2), in lanes */
void a64_simd_1(Lifter *l, const Insn *in, A64Lane *op);
void a64_simd_2(Lifter *l, const Insn *in, A64Lanes *op);
void a64_simd_2_into(Lifter *l, const Insn *in, A64Lanes *op); /* op(op1, op0): the second source is also the result */
void a64_simd_accumulate(Lifter *l, const Insn *in, Op with, A64Lanes *op); /* op0 = op0 with op(op1, op2) */
void a64_simd_compare_zero(Lifter *l, const Insn *in, Pred p);
void a64_simd_select(Lifter *l, const Insn *in, int mask); /* which operand chooses between the other two */
void a64_simd_multiply_accumulate_high(Lifter *l, const Insn *in, Op with);

/* simd_wide.c: elements of two sizes */
void a64_simd_long(Lifter *l, const Insn *in, A64Lanes *op, bool is_signed); /* op0 = op(op1, op2), extended before */
void a64_simd_long_accumulate(Lifter *l, const Insn *in, Op with, A64Lanes *op, bool is_signed);
void a64_simd_wide(Lifter *l, const Insn *in, Op op, bool is_signed); /* only op2 is extended */
void a64_simd_high_narrow(Lifter *l, const Insn *in, Op op, bool rounds);
void a64_simd_double_long(Lifter *l, const Insn *in);
void a64_simd_double_long_accumulate(Lifter *l, const Insn *in, bool subtracts);
void a64_simd_polynomial_long(Lifter *l, const Insn *in);
void a64_simd_narrow(Lifter *l, const Insn *in);
void a64_simd_narrow_saturating(Lifter *l, const Insn *in, bool from_signed, bool to_signed);
void a64_simd_dot(Lifter *l, const Insn *in, bool first_signed, bool second_signed);
void a64_simd_matrix(Lifter *l, const Insn *in, bool first_signed, bool second_signed);

/* simd_shift.c: by a count that is the last operand: an immediate, or signed bytes in the lanes of a register */
typedef struct A64ShiftWay {
    bool is_signed, rounds, saturates, to_unsigned;
} A64ShiftWay;
void a64_simd_shift_by_lanes(Lifter *l, const Insn *in, A64ShiftWay way);
void a64_simd_shift_right(Lifter *l, const Insn *in, A64ShiftWay way, bool accumulates);
void a64_simd_shift_left(Lifter *l, const Insn *in, A64ShiftWay way);
void a64_simd_shift_insert(Lifter *l, const Insn *in, bool left);
void a64_simd_shift_narrow(Lifter *l, const Insn *in, A64ShiftWay way);
void a64_simd_shift_long(Lifter *l, const Insn *in, bool is_signed);

/* simd_across.c */
void a64_simd_pairs(Lifter *l, const Insn *in, A64Lanes *op); /* neighbours of op1, then of op2 */
void a64_simd_pairs_long(Lifter *l, const Insn *in, bool is_signed, bool accumulates);
void a64_simd_pair_scalar(Lifter *l, const Insn *in);
void a64_simd_across(Lifter *l, const Insn *in, const char *reduction);
void a64_simd_across_long(Lifter *l, const Insn *in, bool is_signed);

/* simd_permute.c */
typedef enum A64Permute { A64_ZIP, A64_UZP, A64_TRN } A64Permute;
void a64_simd_permute(Lifter *l, const Insn *in, A64Permute kind, u32 part);
void a64_simd_extract(Lifter *l, const Insn *in);
void a64_simd_reverse(Lifter *l, const Insn *in, u32 container_bits);
void a64_simd_table(Lifter *l, const Insn *in, bool keeps);
void a64_simd_duplicate(Lifter *l, const Insn *in); /* of a lane, or of a general register */
void a64_simd_insert(Lifter *l, const Insn *in);    /* likewise */
void a64_simd_to_general(Lifter *l, const Insn *in, bool is_signed);
void a64_simd_immediate(Lifter *l, const Insn *in);
void a64_simd_immediate_logic(Lifter *l, const Insn *in, Op op);

/* simd_memory.c: op0: the list of registers, op1: memory, op2: what the base becomes more by */
void a64_simd_load(Lifter *l, const Insn *in, bool interleaved);
void a64_simd_store(Lifter *l, const Insn *in, bool interleaved);
void a64_simd_load_lane(Lifter *l, const Insn *in);
void a64_simd_store_lane(Lifter *l, const Insn *in);
void a64_simd_load_replicated(Lifter *l, const Insn *in);

/* simd_float.c: op0 = op(op1, op2), in lanes of floats */
void a64_simd_float(Lifter *l, const Insn *in, A64SoftOp op);
void a64_simd_float_fused(Lifter *l, const Insn *in, A64SoftOp op); /* op0 is the addend */
void a64_simd_float_sign(Lifter *l, const Insn *in, bool negates);
void a64_simd_float_compare(Lifter *l, const Insn *in, A64SoftOp op);
void a64_simd_float_compare_zero(Lifter *l, const Insn *in, A64SoftOp op, bool zero_first);
void a64_simd_float_pairs(Lifter *l, const Insn *in, A64SoftOp op);
void a64_simd_float_across(Lifter *l, const Insn *in, A64SoftOp op);
void a64_simd_float_round(Lifter *l, const Insn *in, u32 rounding, bool tell_inexact);
void a64_simd_float_round_int(Lifter *l, const Insn *in, bool is_long, u32 rounding);
void a64_simd_float_to_int(Lifter *l, const Insn *in, bool is_signed,
                           u32 rounding); /* op2: bits behind the binary point */
void a64_simd_float_from_int(Lifter *l, const Insn *in, bool is_signed);
void a64_simd_float_convert(Lifter *l, const Insn *in);
void a64_simd_float_convert_odd(Lifter *l, const Insn *in);
void a64_simd_float_to_bfloat(Lifter *l, const Insn *in);
void a64_simd_complex_add(Lifter *l, const Insn *in);
void a64_simd_complex_multiply(Lifter *l, const Insn *in);
void a64_simd_float_long_fused(Lifter *l, const Insn *in, bool subtracts, bool upper);
void a64_simd_bfloat_fused(Lifter *l, const Insn *in, u32 odd);
void a64_simd_bfloat_dot(Lifter *l, const Insn *in);
void a64_simd_bfloat_matrix(Lifter *l, const Insn *in);

/* crypto.c: op0 = the C function of the operands from `first` on, and what is no function */
void a64_crypto_block(Lifter *l, const Insn *in, const char *helper, int first);
void a64_crypto_sha1_hash(Lifter *l, const Insn *in, const char *helper);
void a64_crypto_sha1h(Lifter *l, const Insn *in);
void a64_crypto_sha1su0(Lifter *l, const Insn *in);
void a64_crypto_sha1su1(Lifter *l, const Insn *in);
void a64_crypto_sha256su0(Lifter *l, const Insn *in);
void a64_crypto_sha512h(Lifter *l, const Insn *in);
void a64_crypto_sha512h2(Lifter *l, const Insn *in);
void a64_crypto_sha512su0(Lifter *l, const Insn *in);
void a64_crypto_sha512su1(Lifter *l, const Insn *in);
void a64_crypto_rax1(Lifter *l, const Insn *in);
void a64_crypto_xar(Lifter *l, const Insn *in);
void a64_crypto_xor3(Lifter *l, const Insn *in, bool clears);
void a64_crypto_sm3ss1(Lifter *l, const Insn *in);
void a64_crypto_sm3tt(Lifter *l, const Insn *in, u32 which);
void a64_crypto_pmull(Lifter *l, const Insn *in);

#endif
