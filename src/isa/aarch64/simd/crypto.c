/* crypto.c: AES, SHA1, SHA256, SHA512, SHA3, SM3, SM4 and carry-less products. Blocks of 128 bits are integers to the C functions that do what is long. */
#include <stdio.h>

#include "isa/aarch64/families_simd.h"
#include "isa/aarch64/simd/simd.h"

#define WORDS VECTOR(I32, 4)
#define LONGS VECTOR(I64, 2)

enum { BLOCKS = 3 };

/* Where the operands are, if registers have places: stencils have no room for the arguments of functions of several blocks. */
static bool find_places(Lifter *l, const Insn *in, Val places[BLOCKS]) {
    for (int i = 0; i < BLOCKS && i < in->operand_count && in->op[i].kind == OPERAND_REG; i++)
        if (!(places[i] = reg_place(l, (Reg)(A64_V0 + in->op[i].no))))
            return false;
    return true;
}

/* The C function that takes the places of operands, and writes to the first one. */
static void call_in_place(Lifter *l, const char *helper, Val *args, u32 count) {
    char name[64];
    snprintf(name, sizeof(name), "%s_in_place", helper);
    ir_helper(l, name, I64, args, count);
}

/* op0 = the function of the blocks from `first` on. */
void a64_crypto_block(Lifter *l, const Insn *in, const char *helper, int first) {
    Val args[BLOCKS];
    u32 count = 0;
    if (find_places(l, in, args)) {
        call_in_place(l, helper, args, in->operand_count);
        return;
    }
    for (int i = first; i < in->operand_count; i++)
        args[count++] = a64_v(l, in, i, I128);
    a64_set_v(l, in, 0, ir_helper(l, helper, I128, args, count));
}

void a64_crypto_sha1_hash(Lifter *l, const Insn *in, const char *helper) {
    Val places[BLOCKS];
    if (find_places(l, in, places)) {
        call_in_place(l, helper, places, BLOCKS);
        return;
    }
    Val args[] = {a64_v(l, in, 0, I128), a64_v(l, in, 1, I32), a64_v(l, in, 2, I128)};
    a64_set_v(l, in, 0, ir_helper(l, helper, I128, args, 3));
}

static Val rotated(Lifter *l, Val v, u32 left) {
    return ir_fshl(l, v, v, ir_int(l, ir_ty(v), left));
}

/* v rotated to the right by a and by b, and shifted or, if c is negative, rotated by c. */
static Val sigma(Lifter *l, Val v, u32 a, u32 b, i32 c) {
    u32 bits = ty_bits(ir_ty(v)) / ty_lanes(ir_ty(v));
    Val last = c < 0 ? rotated(l, v, bits - (u32)-c) : ir_lshr_by(l, v, (u32)c);
    return ir_xor(l, ir_xor(l, rotated(l, v, bits - a), rotated(l, v, bits - b)), last);
}

/* The four lanes from `first` on of low then high. */
static Val window(Lifter *l, Val low, Val high, int first) {
    const int lanes[] = {first, first + 1, first + 2, first + 3};
    return ir_shuffle(l, low, high, lanes, 4);
}

/* -------------------------------------------------------------------------------------------------------- SHA1, SHA256 */

void a64_crypto_sha1h(Lifter *l, const Insn *in) {
    a64_set_v(l, in, 0, rotated(l, a64_v(l, in, 1, I32), 30));
}

void a64_crypto_sha1su0(Lifter *l, const Insn *in) {
    Val d = a64_v(l, in, 0, WORDS), n = a64_v(l, in, 1, WORDS), m = a64_v(l, in, 2, WORDS);
    a64_set_v(l, in, 0, ir_xor(l, ir_xor(l, window(l, d, n, 2), d), m));
}

void a64_crypto_sha1su1(Lifter *l, const Insn *in) {
    Val d = a64_v(l, in, 0, WORDS), n = a64_v(l, in, 1, WORDS);
    Val t = ir_xor(l, d, window(l, n, ir_zero(l, WORDS), 1)), r = rotated(l, t, 1);
    Val last = ir_xor(l, ir_extract(l, r, 3), rotated(l, ir_extract(l, t, 0), 2));
    a64_set_v(l, in, 0, ir_insert(l, r, last, 3));
}

void a64_crypto_sha256su0(Lifter *l, const Insn *in) {
    Val d = a64_v(l, in, 0, WORDS), n = a64_v(l, in, 1, WORDS);
    a64_set_v(l, in, 0, ir_add(l, d, sigma(l, window(l, d, n, 1), 7, 18, 3)));
}

/* -------------------------------------------------------------------------------------------------------- SHA512, SHA3 */

static Val choose(Lifter *l, Val x, Val y, Val z) {
    return ir_xor(l, ir_and(l, ir_xor(l, y, z), x), z);
}

static Val majority(Lifter *l, Val x, Val y, Val z) {
    return ir_or(l, ir_and(l, x, y), ir_and(l, ir_or(l, x, y), z));
}

static Val sum(Lifter *l, Val a, Val b, Val c) {
    return ir_add(l, ir_add(l, a, b), c);
}

typedef struct Halves {
    Val low, high;
} Halves;

static Halves halves(Lifter *l, const Insn *in, int i) {
    Val v = a64_v(l, in, i, LONGS);
    return (Halves){ir_extract(l, v, 0), ir_extract(l, v, 1)};
}

void a64_crypto_sha512h(Lifter *l, const Insn *in) {
    Halves w = halves(l, in, 0), x = halves(l, in, 1), y = halves(l, in, 2);
    Val high = sum(l, choose(l, y.high, x.low, x.high), sigma(l, y.high, 14, 18, -41), w.high);
    Val t = ir_add(l, high, y.low);
    Val low = sum(l, choose(l, t, y.high, x.low), sigma(l, t, 14, 18, -41), w.low);
    a64_set_v(l, in, 0, a64v_join(l, low, high));
}

void a64_crypto_sha512h2(Lifter *l, const Insn *in) {
    Halves w = halves(l, in, 0), x = halves(l, in, 1), y = halves(l, in, 2);
    Val high = sum(l, majority(l, x.low, y.high, y.low), sigma(l, y.low, 28, 34, -39), w.high);
    Val low = sum(l, majority(l, high, y.low, y.high), sigma(l, high, 28, 34, -39), w.low);
    a64_set_v(l, in, 0, a64v_join(l, low, high));
}

void a64_crypto_sha512su0(Lifter *l, const Insn *in) {
    static const int lanes[] = {1, 2};
    Val w = a64_v(l, in, 0, LONGS), x = a64_v(l, in, 1, LONGS), t = ir_shuffle(l, w, x, lanes, 2);
    a64_set_v(l, in, 0, ir_add(l, w, sigma(l, t, 1, 8, 7)));
}

void a64_crypto_sha512su1(Lifter *l, const Insn *in) {
    Val w = a64_v(l, in, 0, LONGS), x = a64_v(l, in, 1, LONGS), y = a64_v(l, in, 2, LONGS);
    a64_set_v(l, in, 0, sum(l, w, sigma(l, x, 19, 61, 6), y));
}

void a64_crypto_rax1(Lifter *l, const Insn *in) {
    a64_set_v(l, in, 0, ir_xor(l, a64_v(l, in, 1, LONGS), rotated(l, a64_v(l, in, 2, LONGS), 1)));
}

void a64_crypto_xar(Lifter *l, const Insn *in) {
    Val v = ir_xor(l, a64_v(l, in, 1, LONGS), a64_v(l, in, 2, LONGS));
    a64_set_v(l, in, 0, rotated(l, v, 64 - (u32)a64_imm(in, 3)));
}

/* bcax if it clears, else eor3. */
void a64_crypto_xor3(Lifter *l, const Insn *in, bool clears) {
    Val n = a64_v(l, in, 1, LONGS), m = a64_v(l, in, 2, LONGS), a = a64_v(l, in, 3, LONGS);
    a64_set_v(l, in, 0, ir_xor(l, n, clears ? ir_and(l, m, ir_not(l, a)) : ir_xor(l, m, a)));
}

/* ----------------------------------------------------------------------------------------------------------------- SM3 */

void a64_crypto_sm3ss1(Lifter *l, const Insn *in) {
    Val v[3];
    for (int i = 0; i < 3; i++)
        v[i] = ir_extract(l, a64_v(l, in, i + 1, WORDS), 3);
    Val r = rotated(l, sum(l, rotated(l, v[0], 12), v[1], v[2]), 7);
    a64_set_v(l, in, 0, ir_insert(l, ir_zero(l, WORDS), r, 3));
}

void a64_crypto_sm3tt(Lifter *l, const Insn *in, u32 which) {
    static const char helper[] = "lathe_aarch64_sm3tt";
    Val places[BLOCKS];
    u32 lane = (u32)a64_imm(in, 3);
    if (find_places(l, in, places)) {
        Val args[] = {places[0], places[1], ir_offset(l, places[2], lane * sizeof(u32)), ir_int(l, I32, which)};
        call_in_place(l, helper, args, ARRAY_LEN(args));
        return;
    }
    Val w = ir_extract(l, a64_v(l, in, 2, WORDS), lane);
    Val args[] = {a64_v(l, in, 0, I128), a64_v(l, in, 1, I128), w, ir_int(l, I32, which)};
    a64_set_v(l, in, 0, ir_helper(l, helper, I128, args, 4));
}

/* --------------------------------------------------------------------------------------------------------------- products */

void a64_crypto_pmull(Lifter *l, const Insn *in) {
    static const char helper[] = "lathe_aarch64_pmull";
    Val a = a64v_read(l, in, 1), b = a64v_read(l, in, 2), places[BLOCKS];
    if (find_places(l, in, places)) {
        call_in_place(l, helper, (Val[]){places[0], a, b}, 3);
        return;
    }
    a64_set_v(l, in, 0, ir_helper(l, helper, I128, (Val[]){a, b}, 2));
}
