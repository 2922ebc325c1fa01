/* facet.c: the views of a register.
 *
 * A register's bits can be asked for as integers of several widths, a pointer, or scalars and vectors of several element
 * types. A value narrower than its register stands for itself, zero-extended. Conversions here are what LLVM's optimiser
 * expects a compiler to write: pointers through inttoptr, low lanes through extractelement, never through memory.
 */
#include "lift/func.h"

Ty facet_native(const RegInfo *reg) {
    switch ((RegKind)reg->kind) {
    case REG_INT: return ty_int(reg->bits);
    case REG_FLAG: return I1;
    case REG_VECTOR: return ty_vector(I64, reg->bits);
    }
    CHECK(false, "a register of unknown kind");
}

Ty facet_carrier(const RegInfo *reg, Ty t) {
    if (reg->kind == REG_INT && t == PTR)
        return PTR;
    if (reg->kind == REG_VECTOR && ty_elem(t) != I128 && ty_elem(t) != I1)
        return ty_vector(ty_elem(t), reg->bits);
    return facet_native(reg);
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

Val facet_convert(Lifter *l, const RegInfo *reg, Val v, Ty to) {
    Ty from = ir_ty(v);
    if (from == to)
        return v;
    return reg->kind == REG_VECTOR ? convert_vector(l, reg, v, from, to) : convert_int(l, reg, v, from, to);
}
