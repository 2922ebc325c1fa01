/* simd_wide.c: AdvSIMD instructions whose results have elements of twice the size, half the size, or are sums of products of neighbours. */
#include "isa/aarch64/families_simd.h"
#include "isa/aarch64/simd/simd.h"

static Val read_long(Lifter *l, const Insn *in, int i, bool is_signed) {
    return a64v_extend(l, a64v_read(l, in, i), is_signed);
}

void a64_simd_long(Lifter *l, const Insn *in, A64Lanes *op, bool is_signed) {
    a64v_set(l, in, 0, op(l, read_long(l, in, 1, is_signed), read_long(l, in, 2, is_signed)));
}

void a64_simd_long_accumulate(Lifter *l, const Insn *in, Op with, A64Lanes *op, bool is_signed) {
    Val v = op(l, read_long(l, in, 1, is_signed), read_long(l, in, 2, is_signed));
    a64v_set(l, in, 0, ir_op(l, with, a64v_read(l, in, 0), v));
}

void a64_simd_wide(Lifter *l, const Insn *in, Op op, bool is_signed) {
    a64v_set(l, in, 0, ir_op(l, op, a64v_read(l, in, 1), read_long(l, in, 2, is_signed)));
}

void a64_simd_high_narrow(Lifter *l, const Insn *in, Op op, bool rounds) {
    u32 half = a64v_bits(in, 1) / 2;
    Val r = ir_op(l, op, a64v_read(l, in, 1), a64v_read(l, in, 2));
    if (rounds)
        r = ir_add_to(l, r, (i64)1 << (half - 1));
    a64v_set(l, in, 0, a64v_narrow(l, ir_lshr_by(l, r, half)));
}

/* Twice the product, saturated: only that of the two least numbers is too large. */
static Val double_product(Lifter *l, const Insn *in) {
    Val product = ir_mul(l, read_long(l, in, 1, true), read_long(l, in, 2, true));
    return a64_lanes_sqadd(l, product, product);
}

void a64_simd_double_long(Lifter *l, const Insn *in) {
    a64v_set(l, in, 0, double_product(l, in));
}

void a64_simd_double_long_accumulate(Lifter *l, const Insn *in, bool subtracts) {
    Val v = double_product(l, in), sum = a64v_read(l, in, 0);
    a64v_set(l, in, 0, subtracts ? a64_lanes_sqsub(l, sum, v) : a64_lanes_sqadd(l, sum, v));
}

/* Of bytes. Doubles are in crypto.c. */
void a64_simd_polynomial_long(Lifter *l, const Insn *in) {
    a64v_set(l, in, 0, a64_lanes_pmul(l, read_long(l, in, 1, false), read_long(l, in, 2, false)));
}

void a64_simd_narrow(Lifter *l, const Insn *in) {
    a64v_set(l, in, 0, a64v_narrow(l, a64v_read(l, in, 1)));
}

void a64_simd_narrow_saturating(Lifter *l, const Insn *in, bool from_signed, bool to_signed) {
    Val v = a64v_read(l, in, 1);
    a64v_set(l, in, 0, from_signed ? a64v_saturate(l, v, to_signed) : a64v_saturate_unsigned(l, v));
}

/* ------------------------------------------------------------------------------------------------- sums of products */

/* Lanes first, first + step, … */
static Val lanes_of(Lifter *l, Val v, u32 first, u32 step, u32 count) {
    int lanes[16];
    for (u32 i = 0; i < count; i++)
        lanes[i] = (int)(first + i * step);
    return ir_shuffle(l, v, v, lanes, count);
}

/* Four bytes of each word with four of the other: the bytes of one lane, if it is one, are its own. */
void a64_simd_dot(Lifter *l, const Insn *in, bool first_signed, bool second_signed) {
    Ty words = a64v_ty(in, 0), bytes = ty_vector(I8, in->op[0].bits);
    Val a = a64v_read_as(l, in, 1, bytes), b = a64v_read_as(l, in, 2, bytes), sum = a64v_read(l, in, 0);
    u32 n = ty_lanes(words);
    for (u32 i = 0; i < 4; i++) {
        Val x = a64v_extend_to(l, lanes_of(l, a, i, 4, n), 32, first_signed);
        Val y = a64v_extend_to(l, lanes_of(l, b, i, 4, n), 32, second_signed);
        sum = ir_add(l, sum, ir_mul(l, x, y));
    }
    a64v_set(l, in, 0, sum);
}

/* Two rows of eight bytes with two others: the four products are a matrix of two by two. */
void a64_simd_matrix(Lifter *l, const Insn *in, bool first_signed, bool second_signed) {
    static const int row[2][8] = {{0, 1, 2, 3, 4, 5, 6, 7}, {8, 9, 10, 11, 12, 13, 14, 15}};
    Val a = a64v_read(l, in, 1), b = a64v_read(l, in, 2), r = a64v_read(l, in, 0);
    for (u32 i = 0; i < 4; i++) {
        Val x = a64v_extend_to(l, ir_shuffle(l, a, a, row[i / 2], 8), 32, first_signed);
        Val y = a64v_extend_to(l, ir_shuffle(l, b, b, row[i % 2], 8), 32, second_signed);
        Val sum = ir_unary(l, "llvm.vector.reduce.add", ir_mul(l, x, y));
        r = ir_insert(l, r, ir_add(l, ir_extract(l, r, i), sum), i);
    }
    a64v_set(l, in, 0, r);
}
