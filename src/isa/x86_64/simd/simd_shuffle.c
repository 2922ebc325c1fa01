/* simd_shuffle.c: integer SIMD lanes to other places: packed, interleaved, extended, shuffled, blended, inserted. */
#include "isa/x86_64/families_simd.h"
#include "isa/x86_64/forms.h"
#include "isa/x86_64/simd/simd.h"

static u64 imm8(const Insn *in, int i) {
    return imm_value(in, i) & 0xff;
}

/* ----------------------------------------------------------------------------------------------- packing, extending */

static Val join(Lifter *l, Val a, Val b) {
    int lanes[32];
    u32 n = 2 * ty_lanes(ir_ty(a));
    for (u32 i = 0; i < n; i++)
        lanes[i] = (int)i;
    return ir_shuffle(l, a, b, lanes, n);
}

/* Sources are signed; the result saturates to the signed or unsigned range of `to`. */
void simd_pack(Lifter *l, const Insn *in, Ty from, Ty to, Sign saturate) {
    Ty t = simd_ty(in, from);
    Val both = join(l, simd_read(l, in, 0, t), simd_read(l, in, 1, t));
    u32 bits = ty_bits(to);
    i64 low = saturate == SIGNED ? -((i64)1 << (bits - 1)) : 0;
    i64 high = saturate == SIGNED ? ((i64)1 << (bits - 1)) - 1 : ((i64)1 << bits) - 1;
    Val v = ir_binary(l, "llvm.smax", both, ir_int(l, ir_ty(both), (u64)low));
    v = ir_binary(l, "llvm.smin", v, ir_int(l, ir_ty(both), (u64)high));
    set_operand(l, in, 0, ir_trunc(l, v, simd_ty(in, to)));
}

/* SDM 2B, PUNPCKLBW: the MMX form reads only 4 bytes of memory. */
static Val unpack_source(Lifter *l, const Insn *in, Ty t) {
    if (!is_mem(in, 1) || width(in, 1) == ty_bits(t))
        return simd_read(l, in, 1, t);
    Ty half = ty_vector(ty_elem(t), width(in, 1));
    return simd_widen(l, operand_as(l, in, 1, half));
}

void simd_unpack(Lifter *l, const Insn *in, u32 bits, Half half) {
    Ty t = simd_ty(in, simd_elem_at_hand(l, in, 0, bits));
    int lanes[16];
    u32 n = ty_lanes(t), first = half == HIGH ? n / 2 : 0;
    for (u32 i = 0; i < n; i++)
        lanes[i] = (int)(first + i / 2 + i % 2 * n);
    Val a = operand_as(l, in, 0, t), b = unpack_source(l, in, t);
    set_operand(l, in, 0, ir_shuffle(l, a, b, lanes, n));
}

void simd_extend(Lifter *l, const Insn *in, Ty from, Ty to, Sign sign) {
    Ty t = simd_ty(in, to);
    Val v = operand_as(l, in, 1, VECTOR(from, ty_lanes(t)));
    set_operand(l, in, 0, sign == SIGNED ? ir_sext(l, v, t) : ir_zext(l, v, t));
}

/* -------------------------------------------------------------------------------------------------------- shuffling */

void simd_shuffle_four(Lifter *l, const Insn *in, u32 bits, u32 first) {
    Ty t = simd_ty(in, simd_elem_at_hand(l, in, 1, bits));
    Val v = simd_read(l, in, 1, t);
    int lanes[8];
    for (u32 i = 0; i < ty_lanes(t); i++)
        lanes[i] = (int)i;
    for (u32 i = 0; i < 4; i++)
        lanes[first + i] = (int)(first + (imm8(in, 2) >> 2 * i & 3));
    set_operand(l, in, 0, ir_shuffle(l, v, v, lanes, ty_lanes(t)));
}

/* Bits 0–3 of an index choose a byte, of eight ones bits 0–2; with bit 7 set the result is zero. */
static Val plain_shuffle_bytes(Lifter *l, Val v, Val index) {
    Ty t = ir_ty(v);
    u32 n = ty_lanes(t);
    Val low = ir_and_with(l, index, n - 1), r = ir_zero(l, t);
    for (u32 i = 0; i < n; i++)
        r = ir_insert(l, r, ir_extract_at(l, v, ir_zext(l, ir_extract(l, low, i), I32)), i);
    return ir_select(l, ir_is_negative(l, index), ir_zero(l, t), r);
}

/* A form of a host is for sixteen bytes. */
void simd_shuffle_bytes(Lifter *l, const Insn *in) {
    Ty t = simd_ty(in, I8);
    Val v = operand_as(l, in, 0, t), index = simd_read(l, in, 1, t);
    if (width(in, 0) == 64)
        index = ir_and_with(l, index, 0x87);
    Val r = x86_form(l, in, (Val[]){v, index}, 2);
    set_operand(l, in, 0, r ? r : plain_shuffle_bytes(l, v, index));
}

/* Operand 0 above operand 1, shifted right by bytes. */
void simd_align_right(Lifter *l, const Insn *in) {
    Ty t = simd_ty(in, I8);
    u32 n = ty_lanes(t), count = (u32)imm8(in, 2);
    Val above = operand_as(l, in, 0, t), below = simd_read(l, in, 1, t), zero = ir_zero(l, t);
    if (count >= n) {
        below = above;
        above = zero;
        count = count < 2 * n ? count - n : n;
    }
    int lanes[16];
    for (u32 i = 0; i < n; i++)
        lanes[i] = (int)(count + i);
    set_operand(l, in, 0, ir_shuffle(l, below, above, lanes, n));
}

/* --------------------------------------------------------------------------------------------------------- blending */

void simd_blend_words(Lifter *l, const Insn *in) {
    Ty t = simd_ty(in, I16);
    Val a = operand_as(l, in, 0, t), b = simd_read(l, in, 1, t);
    int lanes[8];
    for (u32 i = 0; i < 8; i++)
        lanes[i] = (int)(imm8(in, 2) >> i & 1 ? 8 + i : i);
    set_operand(l, in, 0, ir_shuffle(l, a, b, lanes, 8));
}

void simd_blend_bytes(Lifter *l, const Insn *in) {
    Ty t = simd_ty(in, I8);
    Val a = operand_as(l, in, 0, t), b = simd_read(l, in, 1, t), mask = reg_read(l, XMM0, t);
    set_operand(l, in, 0, ir_select(l, ir_is_negative(l, mask), b, a));
}

/* ----------------------------------------------------------------------------------------------------- single lanes */

void simd_insert(Lifter *l, const Insn *in, Ty elem) {
    Ty t = simd_ty(in, elem);
    Val vec = operand_as(l, in, 0, t), v = operand_as(l, in, 1, elem);
    set_operand(l, in, 0, ir_insert(l, vec, v, (u32)imm8(in, 2) % ty_lanes(t)));
}

/* A general register gets the lane zero-extended. */
void simd_extract(Lifter *l, const Insn *in, Ty elem) {
    Ty t = ty_vector(elem, width(in, 1));
    Val v = ir_extract(l, operand_as(l, in, 1, t), (u32)imm8(in, 2) % ty_lanes(t));
    set_operand(l, in, 0, is_mem(in, 0) ? v : ir_zext(l, v, ty_int(width(in, 0))));
}
