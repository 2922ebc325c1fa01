/* spread.c: see spread.h. An extracted lane is replaced by scalar operations if it depends only on scalars, constants
 * and lane-wise operations. */
#include "binopt/llvm/passes/spread.h"

/* A sum over a table that was unrolled is half as deep as the table is long. */
enum { MAX_DEPTH = 128, MAX_LANES = 2048 };

/* The scalars that were made for one extracted lane, at its place. */
typedef struct Spread {
    LlvmUnit *u;
    bool building; /* false: only finds out whether it is possible; the values do not matter */
    Map64 index;   /* from a vector and a lane to an index of `made` */
    VEC(Val) made;
} Spread;

static Val lane_of(Spread *s, Val v, u32 k, int depth);

static u32 lanes(Val v) {
    return LLVMGetVectorSize(LLVMTypeOf(v));
}

static Val inserted_lane(Spread *s, Val v, u32 k, int depth) {
    u64 at;
    if (!ir_is_const(LLVMGetOperand(v, 2), &at))
        return NULL;
    return at == k ? LLVMGetOperand(v, 1) : lane_of(s, LLVMGetOperand(v, 0), k, depth);
}

static Val shuffled_lane(Spread *s, Val v, u32 k, int depth) {
    int from = LLVMGetMaskValue(v, k);
    u32 first = lanes(LLVMGetOperand(v, 0));
    if (from < 0)
        return NULL;
    return (u32)from < first ? lane_of(s, LLVMGetOperand(v, 0), (u32)from, depth)
                             : lane_of(s, LLVMGetOperand(v, 1), (u32)from - first, depth);
}

static Val binary_lane(Spread *s, Val v, u32 k, int depth) {
    Val a = lane_of(s, LLVMGetOperand(v, 0), k, depth), b = a ? lane_of(s, LLVMGetOperand(v, 1), k, depth) : NULL;
    if (!b || !s->building)
        return b;
    Val made = LLVMBuildBinOp(s->u->l.b, LLVMGetInstructionOpcode(v), a, b, "");
    if (LLVMIsAInstruction(made) && LLVMCanValueUseFastMathFlags(made))
        LLVMSetFastMathFlags(made, LLVMGetFastMathFlags(v));
    return made;
}

static Val cast_lane(Spread *s, Val v, u32 k, int depth) {
    Val a = lane_of(s, LLVMGetOperand(v, 0), k, depth);
    return !a || !s->building
               ? a
               : LLVMBuildCast(s->u->l.b, LLVMGetInstructionOpcode(v), a, LLVMGetElementType(LLVMTypeOf(v)), "");
}

static bool is_sign(Val v, Val of) {
    return LLVMIsAInstruction(v) && ir_is_sign_of(v, of);
}

/* One lane made from two lanes of half its width, the lower half first: SSE2 extends 32-bit integers to 64 bits in this
 * way. */
static Val joined_lane(Spread *s, Val v, u32 k, int depth) {
    Lifter *l = &s->u->l;
    Val halves = LLVMGetOperand(v, 0);
    if (LLVMGetTypeKind(LLVMTypeOf(halves)) != LLVMVectorTypeKind || ir_ty(halves) != VECTOR(I32, 2 * lanes(v)) ||
        ir_ty(v) != VECTOR(I64, lanes(v)))
        return NULL;
    Val low = lane_of(s, halves, 2 * k, depth), high = low ? lane_of(s, halves, 2 * k + 1, depth) : NULL;
    if (!high || !s->building)
        return high;
    if (is_sign(high, low))
        return ir_sext(l, low, I64);
    return ir_or(l, ir_zext(l, low, I64), ir_shl_by(l, ir_zext(l, high, I64), 32));
}

/* A lane that is part of a wider one, which may have been moved after it was composed: SSE joins halves of vectors in
 * this way. */
static Val part_lane(Spread *s, Val v, u32 k, int depth) {
    Val wide = LLVMGetOperand(v, 0);
    if (LLVMGetTypeKind(LLVMTypeOf(wide)) != LLVMVectorTypeKind || lanes(wide) > lanes(v))
        return NULL;
    u32 parts = lanes(v) / lanes(wide), from = k / parts;
    while (LLVMIsAShuffleVectorInst(wide)) {
        int lane = LLVMGetMaskValue(wide, from);
        if (lane < 0)
            return NULL;
        u32 first = lanes(LLVMGetOperand(wide, 0));
        from = (u32)lane < first ? (u32)lane : (u32)lane - first;
        wide = LLVMGetOperand(wide, (u32)lane < first ? 0 : 1);
    }
    if (!LLVMIsABitCastInst(wide))
        return NULL;
    Val whole = LLVMGetOperand(wide, 0);
    bool same = LLVMGetTypeKind(LLVMTypeOf(whole)) == LLVMVectorTypeKind &&
                LLVMGetElementType(LLVMTypeOf(whole)) == LLVMGetElementType(LLVMTypeOf(v));
    return same ? lane_of(s, whole, from * parts + k % parts, depth) : NULL;
}

static Val recast_lane(Spread *s, Val v, u32 k, int depth) {
    Val joined = joined_lane(s, v, k, depth);
    return joined ? joined : part_lane(s, v, k, depth);
}

static Val make_lane(Spread *s, Val v, u32 k, int depth) {
    if (LLVMIsAConstantDataVector(v) || LLVMIsAConstantVector(v) || LLVMIsAConstantAggregateZero(v))
        return LLVMGetAggregateElement(v, k);
    if (!LLVMIsAInstruction(v) || !depth)
        return NULL;
    switch (LLVMGetInstructionOpcode(v)) {
    case LLVMInsertElement:
        return inserted_lane(s, v, k, depth - 1);
    case LLVMShuffleVector:
        return shuffled_lane(s, v, k, depth - 1);
    case LLVMAdd:
    case LLVMSub:
    case LLVMMul:
    case LLVMAnd:
    case LLVMOr:
    case LLVMXor:
    case LLVMShl:
    case LLVMLShr:
    case LLVMAShr:
    case LLVMFAdd:
    case LLVMFSub:
    case LLVMFMul:
    case LLVMFDiv:
        return binary_lane(s, v, k, depth - 1);
    case LLVMSExt:
    case LLVMZExt:
    case LLVMTrunc:
        return cast_lane(s, v, k, depth - 1);
    case LLVMBitCast:
        return recast_lane(s, v, k, depth - 1);
    default:
        return NULL;
    }
}

/* Returns NULL if the lane cannot be made. While only that is asked, any other value means yes. */
static Val lane_of(Spread *s, Val v, u32 k, int depth) {
    u64 key = (u64)(uintptr_t)v + k; /* addresses of values are further apart than the number of lanes */
    u32 at;
    if (map64_get(&s->index, key, &at))
        return s->made.at[at];
    Val scalar = s->made.len < MAX_LANES ? make_lane(s, v, k, depth) : NULL;
    if (!scalar)
        return NULL;
    map64_set(&s->index, key, (u32)s->made.len);
    VEC_PUSH(&s->made, scalar);
    return scalar;
}

static Val spread_one(LlvmUnit *u, Val vector, u32 k, bool building) {
    Spread s = {.u = u, .building = building};
    Val scalar = lane_of(&s, vector, k, MAX_DEPTH);
    map64_free(&s.index);
    VEC_FREE(&s.made);
    return scalar;
}

static bool spread_extract(LlvmUnit *u, Val extract) {
    u64 k;
    Val vector = LLVMGetOperand(extract, 0);
    if (!ir_is_const(LLVMGetOperand(extract, 1), &k) || k >= lanes(vector) || !spread_one(u, vector, (u32)k, false))
        return false;
    LLVMPositionBuilderBefore(u->l.b, extract);
    LLVMReplaceAllUsesWith(extract, spread_one(u, vector, (u32)k, true));
    LLVMInstructionEraseFromParent(extract);
    return true;
}

bool spread_lanes(LlvmUnit *u) {
    bool changed = false;
    for (Label b = LLVMGetFirstBasicBlock(u->spec); b; b = LLVMGetNextBasicBlock(b))
        for (Val in = LLVMGetFirstInstruction(b), next; in; in = next) {
            next = LLVMGetNextInstruction(in);
            if (LLVMIsAExtractElementInst(in))
                changed |= spread_extract(u, in);
        }
    return changed;
}
