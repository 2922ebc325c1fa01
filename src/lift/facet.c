/* facet.c: the views of a register.
 *
 * A register's bits can be asked for as integers of several widths, a pointer, or scalars and vectors of several element
 * types. A value narrower than its register stands for itself, zero-extended (floats: boxed). Conversions here are what
 * LLVM's optimiser expects a compiler to write: pointers through inttoptr, low lanes through extractelement, never through memory.
 */
#include "lift/func.h"

Ty facet_native(const RegInfo *reg) {
    switch ((RegKind)reg->kind) {
    case REG_INT:
        return ty_int(reg->bits);
    case REG_FLAG:
        return I1;
    case REG_VECTOR:
        return ty_vector(I64, reg->bits);
    case REG_FLOAT:
        return F64;
    }
    CHECK(false, "a register of unknown kind");
}

Ty facet_carrier(const RegInfo *reg, Ty t) {
    if (reg->kind == REG_INT && t == PTR)
        return PTR;
    if (reg->kind == REG_VECTOR && ty_elem(t) != I128 && ty_elem(t) != I1)
        return ty_vector(ty_elem(t), reg->bits);
    if (reg->kind == REG_FLOAT && t == I64)
        return I64;
    return facet_native(reg);
}

bool facet_is_part(const RegInfo *reg, Ty t) {
    return reg->kind == REG_FLOAT && ty_bits(t) < reg->bits;
}

static Val convert_int(Lifter *l, const RegInfo *reg, Val v, Ty from, Ty to) {
    if (to == PTR)
        return ir_bitcast(l, ir_zext(l, v, ty_int(reg->bits)), PTR);
    if (from == PTR)
        v = ir_bitcast(l, v, I64);
    return ir_resize(l, v, to);
}

/* The low lanes of a vector, or a vector with zeros above. */
static Val resize_lanes(Lifter *l, Val v, u32 from, u32 to) {
    int lanes[64];
    for (u32 i = 0; i < to; i++)
        lanes[i] = (int)(i < from ? i : from + i % from);
    return ir_shuffle(l, v, LLVMConstNull(LLVMTypeOf(v)), lanes, to);
}

/* All bits of a vector register, from a value that may be narrower. */
static Val widen(Lifter *l, Val v, Ty from, u32 bits) {
    if (ty_bits(from) == bits)
        return v;
    if (!ty_is_vector(from))
        return ir_insert(l, ir_zero(l, ty_vector(from, bits)), v, 0);
    return resize_lanes(l, v, ty_lanes(from), bits / ty_bits(ty_elem(from)));
}

static Val convert_vector(Lifter *l, const RegInfo *reg, Val v, Ty from, Ty to) {
    if (ty_bits(from) == ty_bits(to))
        return ir_bitcast(l, v, to);
    v = widen(l, v, from, reg->bits);
    if (ty_bits(to) == reg->bits)
        return ir_bitcast(l, v, to);
    Ty full = ty_vector(ty_elem(to), reg->bits);
    v = ir_bitcast(l, v, full);
    return ty_is_vector(to) ? resize_lanes(l, v, ty_lanes(full), ty_lanes(to)) : ir_extract(l, v, 0);
}

/* A float of 32 bits with ones above it. */
static Val box(Lifter *l, Val v) {
    Val ones = ir_bitcast(l, ir_ones(l, VECTOR(I32, 2)), VECTOR(F32, 2));
    return ir_bitcast(l, ir_insert(l, ones, v, 0), I64);
}

static Val unbox(Lifter *l, Val v) {
    Val boxed = ir_icmp(l, UGE, v, ir_int(l, I64, ~(u64)0 << 32));
    Val nan = ir_bitcast(l, ir_int(l, I32, 0x7fc00000), F32);
    return ir_select(l, boxed, ir_bitcast(l, ir_trunc(l, v, I32), F32), nan);
}

/* Integers are the low bits, whatever is above them; a single is what was boxed. */
static Val convert_float(Lifter *l, Val v, Ty from, Ty to) {
    if (ty_bits(from) == ty_bits(to))
        return ir_bitcast(l, v, to);
    Val bits = from == F32 ? box(l, v) : ir_bitcast(l, v, I64);
    if (to == F32)
        return unbox(l, bits);
    return to == F64 ? ir_bitcast(l, bits, to) : ir_trunc(l, bits, to);
}

Val facet_convert(Lifter *l, const RegInfo *reg, Val v, Ty to) {
    Ty from = ir_ty(v);
    if (from == to)
        return v;
    switch ((RegKind)reg->kind) {
    case REG_VECTOR:
        return convert_vector(l, reg, v, from, to);
    case REG_FLOAT:
        return convert_float(l, v, from, to);
    case REG_INT:
    case REG_FLAG:
        return convert_int(l, reg, v, from, to);
    }
    CHECK(false, "a register of unknown kind");
}
