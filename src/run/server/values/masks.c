/* masks.c: see masks.h. */
#include "run/server/values/masks.h"

/* ------------------------------------------------------------------------------------------------------------- shapes */

static u32 float_bits(LLVMTypeKind kind) {
    switch (kind) {
    case LLVMHalfTypeKind:
    case LLVMBFloatTypeKind:
        return 16;
    case LLVMFloatTypeKind:
        return 32;
    case LLVMDoubleTypeKind:
        return 64;
    case LLVMX86_FP80TypeKind:
        return 80;
    case LLVMFP128TypeKind:
        return 128;
    default:
        return 0;
    }
}

LLVMTypeRef mask_type(const Masks *m, LLVMTypeRef type) {
    LLVMTypeKind kind = LLVMGetTypeKind(type);
    if (kind == LLVMIntegerTypeKind)
        return type;
    if (kind == LLVMPointerTypeKind)
        return m->word;
    if (kind == LLVMVectorTypeKind) {
        LLVMTypeRef lane = mask_type(m, LLVMGetElementType(type));
        return lane ? LLVMVectorType(lane, LLVMGetVectorSize(type)) : NULL;
    }
    return float_bits(kind) ? LLVMIntTypeInContext(m->ctx, float_bits(kind)) : NULL;
}

LLVMTypeRef mask_type_of(const Masks *m, Val v) {
    return mask_type(m, LLVMTypeOf(v));
}

static LLVMTypeRef lane_of(LLVMTypeRef type) {
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetElementType(type) : type;
}

Val bits_of(const Masks *m, Val v) {
    LLVMTypeRef to = mask_type_of(m, v);
    if (LLVMGetTypeKind(lane_of(LLVMTypeOf(v))) == LLVMPointerTypeKind)
        return LLVMBuildPtrToInt(m->b, v, to, "");
    return LLVMTypeOf(v) == to ? v : LLVMBuildBitCast(m->b, v, to, "");
}

Val mask_of(const Masks *m, Val v) {
    u32 at;
    return map64_get(&m->index, (u64)v, &at) ? m->all.at[at] : NULL;
}

void mask_set(Masks *m, Val v, Val mask) {
    if (!mask || (LLVMIsConstant(mask) && LLVMIsNull(mask)))
        return;
    map64_set(&m->index, (u64)v, (u32)m->all.len);
    VEC_PUSH(&m->all, mask);
}

Val mask_or_zero(const Masks *m, Val mask, Val v) {
    return mask ? mask : LLVMConstNull(mask_type_of(m, v));
}

/* ---------------------------------------------------------------------------------------------------------- arithmetic */

Val mask_both(const Masks *m, Val a, Val b) {
    return !a ? b : !b ? a : LLVMBuildOr(m->b, a, b, "");
}

Val mask_left(const Masks *m, Val a) {
    return a ? LLVMBuildOr(m->b, a, LLVMBuildNeg(m->b, a, ""), "") : NULL;
}

static u32 bits_in(LLVMTypeRef type) {
    u32 lanes = LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetVectorSize(type) : 1;
    return lanes * LLVMGetIntTypeWidth(lane_of(type));
}

Val mask_any(const Masks *m, Val a) {
    if (!a)
        return NULL;
    LLVMTypeRef whole = LLVMIntTypeInContext(m->ctx, bits_in(LLVMTypeOf(a)));
    Val all = LLVMTypeOf(a) == whole ? a : LLVMBuildBitCast(m->b, a, whole, "");
    return whole == m->bit ? all : LLVMBuildICmp(m->b, LLVMIntNE, all, LLVMConstNull(whole), "");
}

Val mask_if(const Masks *m, Val condition, LLVMTypeRef type) {
    bool each = LLVMGetTypeKind(LLVMTypeOf(condition)) == LLVMVectorTypeKind;
    if (each || LLVMGetTypeKind(type) == LLVMIntegerTypeKind)
        return LLVMTypeOf(condition) == type ? condition : LLVMBuildSExt(m->b, condition, type, "");
    return LLVMBuildSelect(m->b, condition, LLVMConstAllOnes(type), LLVMConstNull(type), "");
}

static u32 lanes_in(LLVMTypeRef type) {
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetVectorSize(type) : 0;
}

Val mask_lanes(const Masks *m, Val a, LLVMTypeRef to) {
    if (!a || !to)
        return NULL;
    LLVMTypeRef type = LLVMTypeOf(a);
    bool same = lanes_in(type) == lanes_in(to);
    if (same && LLVMGetIntTypeWidth(lane_of(type)) == 1)
        return mask_if(m, a, to);
    return mask_if(m, same ? LLVMBuildICmp(m->b, LLVMIntNE, a, LLVMConstNull(type), "") : mask_any(m, a), to);
}

Val value_least(const Masks *m, Val bits, Val mask) {
    return mask ? LLVMBuildAnd(m->b, bits, LLVMBuildNot(m->b, mask, ""), "") : bits;
}

Val value_most(const Masks *m, Val bits, Val mask) {
    return mask ? LLVMBuildOr(m->b, bits, mask, "") : bits;
}
