/* families_simd.h: the meanings of integer SIMD (MMX, SSE2 to SSE4.2), of string compares and of cryptography.
 *
 * Unless said otherwise, operand 0 is destination and first source, operand 1 the second source.
 */
#ifndef ISA_X86_64_FAMILIES_SIMD_H
#define ISA_X86_64_FAMILIES_SIMD_H

#include "isa/x86_64/block.h"
#include "isa/x86_64/x86_64.h"

typedef Val LaneOp(Lifter *l, Val a, Val b);

typedef enum Sign { UNSIGNED, SIGNED } Sign;
typedef enum Half { LOW, HIGH } Half;

/* simd_arith.c: lane by lane */
void simd_lanes(Lifter *l, const Insn *in, Ty elem, LaneOp *op);
void simd_lanes_by(Lifter *l, const Insn *in, Ty elem, const char *intrinsic); /* an intrinsic of any vector type */
void simd_subtract(Lifter *l, const Insn *in, Ty elem);
void simd_compare(Lifter *l, const Insn *in, Ty elem, Pred p);
void simd_average(Lifter *l, const Insn *in, Ty elem);
void simd_mul_high(Lifter *l, const Insn *in, Sign sign); /* the upper halves of 16 × 16 bits */
void simd_mul_wide(Lifter *l, const Insn *in, Sign sign); /* 32 × 32 to 64 bits of the even lanes */
void simd_abs(Lifter *l, const Insn *in, Ty elem);
void simd_by_form(Lifter *l, const Insn *in, Ty elem,
                  LaneOp *plain); /* the host's own, or else the following: lanes may widen */
LaneOp plain_sign, plain_mul_rounded, plain_mul_add, plain_mul_add_bytes, plain_sum_differences;

/* simd_across.c: results made from several lanes */
void simd_pairs(Lifter *l, const Insn *in, Ty elem, LaneOp *op);
void simd_pairs_by(Lifter *l, const Insn *in, Ty elem, const char *intrinsic);
void simd_sum_differences(Lifter *l, const Insn *in); /* mpsadbw */
void simd_min_position(Lifter *l, const Insn *in);
void simd_sign_mask(Lifter *l, const Insn *in); /* pmovmskb */
void simd_test(Lifter *l, const Insn *in);      /* ptest */

/* simd_bits.c: logic and shifts */
void simd_logic(Lifter *l, const Insn *in, LaneOp *op);
void simd_xor(Lifter *l, const Insn *in);
void simd_andn(Lifter *l, const Insn *in);
void simd_shift(Lifter *l, const Insn *in, Ty elem, LaneOp *op);
void simd_shift_left_bytes(Lifter *l, const Insn *in);
void simd_shift_right_bytes(Lifter *l, const Insn *in);

/* simd_shuffle.c: lanes to other places, packed, extended or blended */
void simd_pack(Lifter *l, const Insn *in, Ty from, Ty to, Sign saturate);
void simd_unpack(Lifter *l, const Insn *in, u32 bits, Half half);
void simd_extend(Lifter *l, const Insn *in, Ty from, Ty to, Sign sign);
void simd_shuffle_four(Lifter *l, const Insn *in, u32 bits, u32 first); /* the four lanes from first on, by immediate */
void simd_shuffle_bytes(Lifter *l, const Insn *in);
void simd_align_right(Lifter *l, const Insn *in);
void simd_blend_words(Lifter *l, const Insn *in);
void simd_blend_bytes(Lifter *l, const Insn *in);
void simd_insert(Lifter *l, const Insn *in, Ty elem);
void simd_extract(Lifter *l, const Insn *in, Ty elem);

/* simd_move.c */
void simd_move(Lifter *l, const Insn *in);         /* 16 bytes, of any alignment */
void simd_move_aligned(Lifter *l, const Insn *in); /* 16 bytes */
void simd_move_low(Lifter *l, const Insn *in);     /* 32 or 64 bits; the rest of a destination register is cleared */
void simd_move_masked(Lifter *l, const Insn *in);

/* simd_string.c: the SSE4.2 string compares. The index goes to ecx, the mask to xmm0. */
void string_index(Lifter *l, const Insn *in);
void string_mask(Lifter *l, const Insn *in);
void string_index_sized(Lifter *l, const Insn *in); /* with lengths in eax and edx */
void string_mask_sized(Lifter *l, const Insn *in);

/* simd_crypto.c: the host's own instruction, or a C function */
void crypto_binary(Lifter *l, const Insn *in, BlockOp op);
void crypto_unary(Lifter *l, const Insn *in, BlockOp op); /* of operand 1 */
void crypto_sha256_rounds(Lifter *l, const Insn *in);
void simd_crc32(Lifter *l, const Insn *in);

#endif
