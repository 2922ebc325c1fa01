/* bits.c: bit fields, counting, reversing, checksums, and instructions that work on the flags. */
#include "isa/aarch64/families.h"

/* ---------------------------------------------------------------------------------------------------------- bit fields */

/* The field, shifted to the top, comes down again with its sign or zeros above it. */
void a64_bit_field(Lifter *l, const Insn *in, bool is_signed) {
    Ty t = a64_ty(in, 0);
    Val top = ir_shl(l, a64_x(l, in, 1), immediate(l, in, A64_BIT_FIELD_UP, t)),
        down = immediate(l, in, A64_BIT_FIELD_DOWN, t);
    a64_set(l, in, 0, is_signed ? ir_ashr(l, top, down) : ir_lshr(l, top, down));
}

/* Compilers insert into registers that have no value yet: what LLVM may take for anything must not get into the inserted bits, as it would if it were named twice. */
void a64_bit_field_insert(Lifter *l, const Insn *in) {
    Ty t = a64_ty(in, 0);
    Val from = a64_x(l, in, 1), turned = ir_fshr(l, from, from, a64_int(l, in, 2, t)),
        mask = immediate(l, in, A64_BIT_FIELD_MASK, t);
    Val kept = ir_and(l, a64_x(l, in, 0), ir_not(l, mask));
    a64_set(l, in, 0, ir_or(l, kept, ir_and(l, turned, mask)));
}

/* --------------------------------------------------------------------------------------------------- one source */

void a64_unary(Lifter *l, const Insn *in, const char *intrinsic) {
    a64_set(l, in, 0, ir_unary(l, intrinsic, a64_x(l, in, 1)));
}

/* The bytes of each part of so many bits. */
void a64_reverse(Lifter *l, const Insn *in, u32 part_bits) {
    Ty t = a64_ty(in, 0);
    Val v = ir_unary(l, "llvm.bswap", a64_x(l, in, 1));
    if (part_bits == 16) {
        u64 low = 0x00ff00ff00ff00ff;
        Val x = a64_x(l, in, 1);
        v = ir_or(l, ir_shl_by(l, ir_and_with(l, x, low), 8), ir_and_with(l, ir_lshr_by(l, x, 8), low));
    } else if (part_bits < ty_bits(t)) {
        v = ir_fshl(l, v, v, ir_int(l, t, part_bits));
    }
    a64_set(l, in, 0, v);
}

static Val leading_zeros(Lifter *l, Val v) {
    Ty t = ir_ty(v);
    Val args[] = {v, ir_int(l, I1, 0)};
    return ir_intrinsic(l, "llvm.ctlz", &t, 1, args, 2);
}

void a64_count_zeros(Lifter *l, const Insn *in) {
    a64_set(l, in, 0, leading_zeros(l, a64_x(l, in, 1)));
}

/* Bits after the first that are equal to it. */
void a64_count_sign(Lifter *l, const Insn *in) {
    Val v = a64_x(l, in, 1), folded = ir_xor(l, v, ir_shl_by(l, v, 1));
    a64_set(l, in, 0, leading_zeros(l, ir_or(l, folded, ir_int(l, ir_ty(v), 1))));
}

/* ----------------------------------------------------------------------------------------------------------- checksums */

void a64_crc32(Lifter *l, const Insn *in, u32 bytes, bool castagnoli) {
    Val args[] = {a64_x(l, in, 1), ir_zext(l, a64_x(l, in, 2), I64), ir_int(l, I32, bytes)};
    const char *name = castagnoli ? "lathe_aarch64_crc32c" : "lathe_aarch64_crc32";
    a64_set(l, in, 0, ir_helper(l, name, I32, args, 3));
}

/* --------------------------------------------------------------------------------------------------------------- flags */

/* The low bits of the rotated register become those flags that the mask has: N Z C V from bit 3 down. */
void a64_rotate_into_flags(Lifter *l, const Insn *in) {
    u32 by = (u32)a64_imm(in, 1), mask = (u32)a64_imm(in, 2);
    Val v = a64_x(l, in, 0), low = ir_trunc(l, ir_fshr(l, v, v, ir_int(l, I64, by)), I32);
    for (Reg f = A64_N; f <= A64_V; f++)
        if (mask >> (A64_V - f) & 1)
            a64_set_flag(l, f, ir_trunc(l, ir_lshr_by(l, low, (u32)(A64_V - f)), I1));
}

/* As if so many low bits were the result of an addition; C stays. */
void a64_set_flags(Lifter *l, const Insn *in, u32 bits) {
    Val v = a64_x(l, in, 0), low = ir_trunc(l, v, ty_int(bits));
    Val sign = ir_trunc(l, ir_lshr_by(l, v, bits - 1), I1), above = ir_trunc(l, ir_lshr_by(l, v, bits), I1);
    a64_set_flag(l, A64_N, sign);
    a64_set_flag(l, A64_Z, ir_is_zero(l, low));
    a64_set_flag(l, A64_V, ir_xor(l, sign, above));
}

void a64_invert_carry(Lifter *l, const Insn *in) {
    (void)in;
    a64_set_flag(l, A64_C, ir_not(l, a64_flag(l, A64_C)));
}

/* The manual, AXFLAG and XAFLAG: comparisons of floats in the way of other machines, and back. */
void a64_flags_to_external(Lifter *l, const Insn *in) {
    (void)in;
    Val z = a64_flag(l, A64_Z), c = a64_flag(l, A64_C), v = a64_flag(l, A64_V), no = ir_int(l, I1, 0);
    a64_set_flag(l, A64_N, no);
    a64_set_flag(l, A64_Z, ir_or(l, z, v));
    a64_set_flag(l, A64_C, ir_and(l, c, ir_not(l, v)));
    a64_set_flag(l, A64_V, no);
}

void a64_flags_from_external(Lifter *l, const Insn *in) {
    (void)in;
    Val z = a64_flag(l, A64_Z), c = a64_flag(l, A64_C), not_z = ir_not(l, z), not_c = ir_not(l, c);
    a64_set_flag(l, A64_N, ir_and(l, not_c, not_z));
    a64_set_flag(l, A64_Z, ir_and(l, z, c));
    a64_set_flag(l, A64_C, ir_or(l, c, z));
    a64_set_flag(l, A64_V, ir_and(l, not_c, z));
}
