/* unpack.c: see unpack.h.
 *
 * A web is a vector with all vectors that it is made from and that are made from it. It is taken apart as a whole. There is one where a
 * scalar of a loop's iteration is spread over all lanes of a vector: that distinguishes the four channels of a pixel from four iterations
 * of a loop, which should stay as they are. */
#include "binopt/llvm/passes/unpack.h"

#include <llvm-c/Target.h>

enum { MAX_MEMBERS = 512, MAX_LANES = 8 };

typedef struct VectorWeb {
    LlvmUnit *u;
    Map64 index; /* from a member to its index */
    VEC(Val) member;
    VEC(Val) scalar; /* MAX_LANES for each member; NULL: not made yet */
} VectorWeb;

static bool is_vector(Val v) {
    return LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMVectorTypeKind;
}

static u32 lanes(Val v) {
    return LLVMGetVectorSize(LLVMTypeOf(v));
}

/* ----------------------------------------------------------------------------------------------------------- collecting */

static bool add(VectorWeb *w, Val v) {
    u32 at;
    if (map64_get(&w->index, (u64)(uintptr_t)v, &at))
        return true;
    if (w->member.len == MAX_MEMBERS || (is_vector(v) && lanes(v) > MAX_LANES))
        return false;
    map64_set(&w->index, (u64)(uintptr_t)v, (u32)w->member.len);
    VEC_PUSH(&w->member, v);
    return true;
}

static bool is_plain_access(Val v) {
    return !LLVMGetVolatile(v) && LLVMGetOrdering(v) == LLVMAtomicOrderingNotAtomic;
}

/* True if the operation works lane by lane, or moves known lanes. */
static bool can_unpack(Val v) {
    u64 lane;
    if (!LLVMIsAInstruction(v))
        return false;
    if (LLVMIsABinaryOperator(v) || LLVMIsAPHINode(v) || LLVMIsAShuffleVectorInst(v) || LLVMIsAUnaryOperator(v))
        return true;
    if (LLVMIsAInsertElementInst(v))
        return ir_is_const(LLVMGetOperand(v, 2), &lane) && lane < lanes(v);
    return (LLVMIsALoadInst(v) || LLVMIsAStoreInst(v)) && is_plain_access(v);
}

static bool add_operands(VectorWeb *w, Val v) {
    for (unsigned i = 0, n = (unsigned)LLVMGetNumOperands(v); i < n; i++) {
        Val op = LLVMGetOperand(v, i);
        if (is_vector(op) && (LLVMIsAConstant(op) ? !LLVMGetAggregateElement(op, 0) : !add(w, op)))
            return false;
    }
    return true;
}

static bool add_users(VectorWeb *w, Val v) {
    u64 lane;
    for (LLVMUseRef use = LLVMGetFirstUse(v); use; use = LLVMGetNextUse(use)) {
        Val user = LLVMGetUser(use);
        bool taken = LLVMIsAExtractElementInst(user) && ir_is_const(LLVMGetOperand(user, 1), &lane) && lane < lanes(v);
        if (!taken && ((!is_vector(user) && !LLVMIsAStoreInst(user)) || !add(w, user)))
            return false;
    }
    return true;
}

static bool collect(VectorWeb *w, Val seed) {
    add(w, seed);
    for (size_t i = 0; i < w->member.len; i++) {
        Val v = w->member.at[i];
        if (!can_unpack(v) || !add_operands(w, v) || (is_vector(v) && !add_users(w, v)))
            return false;
    }
    return true;
}

/* --------------------------------------------------------------------------------------------------------- taking apart */

static Val lane_of(VectorWeb *w, Val v, u32 k);

static void copy_scopes(Lifter *l, Val to, Val from) {
    const u32 kinds[] = {l->md_scope, l->md_noalias};
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (LLVMGetMetadata(from, kinds[i]))
            LLVMSetMetadata(to, kinds[i], LLVMGetMetadata(from, kinds[i]));
}

static Val lane_address(VectorWeb *w, Val pointer, LLVMTypeRef element, u32 k) {
    u64 bytes = LLVMStoreSizeOfType(LLVMGetModuleDataLayout(w->u->mod), element);
    return ir_offset(&w->u->l, pointer, (i64)(k * bytes));
}

static Val loaded_lane(VectorWeb *w, Val load, u32 k) {
    LLVMTypeRef element = LLVMGetElementType(LLVMTypeOf(load));
    Val at = lane_address(w, LLVMGetOperand(load, 0), element, k);
    Val scalar = LLVMBuildLoad2(w->u->l.b, element, at, "");
    LLVMSetAlignment(scalar, 1);
    copy_scopes(&w->u->l, scalar, load);
    return scalar;
}

static void store_lanes(VectorWeb *w, Val store) {
    Lifter *l = &w->u->l;
    Val v = LLVMGetOperand(store, 0);
    for (u32 k = 0; k < lanes(v); k++) {
        Val scalar = lane_of(w, v, k);
        LLVMPositionBuilderBefore(l->b, store);
        Val at = lane_address(w, LLVMGetOperand(store, 1), LLVMGetElementType(LLVMTypeOf(v)), k);
        Val made = LLVMBuildStore(l->b, scalar, at);
        LLVMSetAlignment(made, 1);
        copy_scopes(l, made, store);
    }
}

static Val shuffled_lane(VectorWeb *w, Val v, u32 k) {
    int from = LLVMGetMaskValue(v, k);
    u32 first = lanes(LLVMGetOperand(v, 0));
    if (from < 0)
        return LLVMGetPoison(LLVMGetElementType(LLVMTypeOf(v)));
    return (u32)from < first ? lane_of(w, LLVMGetOperand(v, 0), (u32)from)
                             : lane_of(w, LLVMGetOperand(v, 1), (u32)from - first);
}

/* An inserted lane may have been extracted from another member, which will be removed. */
static Val inserted_lane(VectorWeb *w, Val v, u32 k) {
    u64 at = 0, from = 0;
    u32 index;
    ir_is_const(LLVMGetOperand(v, 2), &at);
    if (at != k)
        return lane_of(w, LLVMGetOperand(v, 0), k);
    Val scalar = LLVMGetOperand(v, 1);
    if (LLVMIsAExtractElementInst(scalar) && ir_is_const(LLVMGetOperand(scalar, 1), &from) &&
        map64_get(&w->index, (u64)(uintptr_t)LLVMGetOperand(scalar, 0), &index))
        return lane_of(w, LLVMGetOperand(scalar, 0), (u32)from);
    return scalar;
}

static Val computed_lane(VectorWeb *w, Val v, u32 k) {
    LLVMBuilderRef b = w->u->l.b;
    bool unary = LLVMIsAUnaryOperator(v);
    Val x = lane_of(w, LLVMGetOperand(v, 0), k), y = unary ? NULL : lane_of(w, LLVMGetOperand(v, 1), k);
    LLVMPositionBuilderBefore(b, v);
    Val made = unary ? LLVMBuildFNeg(b, x, "") : LLVMBuildBinOp(b, LLVMGetInstructionOpcode(v), x, y, "");
    if (LLVMIsAInstruction(made) && LLVMCanValueUseFastMathFlags(made))
        LLVMSetFastMathFlags(made, LLVMGetFastMathFlags(v));
    return made;
}

static Val make_lane(VectorWeb *w, Val v, u32 k) {
    LLVMPositionBuilderBefore(w->u->l.b, v);
    if (LLVMIsAPHINode(v))
        return LLVMBuildPhi(w->u->l.b, LLVMGetElementType(LLVMTypeOf(v)), "");
    if (LLVMIsALoadInst(v))
        return loaded_lane(w, v, k);
    if (LLVMIsAShuffleVectorInst(v))
        return shuffled_lane(w, v, k);
    if (LLVMIsAInsertElementInst(v))
        return inserted_lane(w, v, k);
    return computed_lane(w, v, k);
}

static Val lane_of(VectorWeb *w, Val v, u32 k) {
    u32 at;
    if (LLVMIsAConstant(v))
        return LLVMGetAggregateElement(v, k);
    bool member = map64_get(&w->index, (u64)(uintptr_t)v, &at);
    CHECK(member, "vectors that a web is made of belong to it");
    size_t slot = (size_t)at * MAX_LANES + k;
    if (!w->scalar.at[slot])
        w->scalar.at[slot] = make_lane(w, v, k);
    return w->scalar.at[slot];
}

static void fill_phi(VectorWeb *w, Val phi) {
    for (unsigned i = 0, n = LLVMCountIncoming(phi); i < n; i++)
        for (u32 k = 0; k < lanes(phi); k++)
            ir_phi_add(lane_of(w, phi, k), lane_of(w, LLVMGetIncomingValue(phi, i), k), LLVMGetIncomingBlock(phi, i));
}

static void replace_extracts(VectorWeb *w, Val v) {
    for (LLVMUseRef use = LLVMGetFirstUse(v), next; use; use = next) {
        next = LLVMGetNextUse(use);
        Val user = LLVMGetUser(use);
        u64 k;
        if (!LLVMIsAExtractElementInst(user) || !ir_is_const(LLVMGetOperand(user, 1), &k))
            continue;
        LLVMReplaceAllUsesWith(user, lane_of(w, v, (u32)k));
        LLVMInstructionEraseFromParent(user);
    }
}

static void take_apart(VectorWeb *w) {
    for (size_t i = 0; i < w->member.len * MAX_LANES; i++)
        VEC_PUSH(&w->scalar, NULL);
    for (size_t i = 0; i < w->member.len; i++) {
        if (LLVMIsAPHINode(w->member.at[i]))
            fill_phi(w, w->member.at[i]);
        if (LLVMIsAStoreInst(w->member.at[i]))
            store_lanes(w, w->member.at[i]);
    }
    for (size_t i = 0; i < w->member.len; i++)
        if (is_vector(w->member.at[i]))
            replace_extracts(w, w->member.at[i]);
    for (size_t i = 0; i < w->member.len; i++)
        if (is_vector(w->member.at[i]))
            LLVMReplaceAllUsesWith(w->member.at[i], LLVMGetPoison(LLVMTypeOf(w->member.at[i])));
    for (size_t i = 0; i < w->member.len; i++)
        LLVMInstructionEraseFromParent(w->member.at[i]);
}

/* --------------------------------------------------------------------------------------------------------------- public */

/* True if a path leads from the block back to it. */
static bool is_in_loop(Label block) {
    Map64 seen = {0};
    VEC(Label) todo = {0};
    u32 unused;
    bool found = false;
    VEC_PUSH(&todo, block);
    while (todo.len && !found) {
        Val end = LLVMGetBasicBlockTerminator(todo.at[--todo.len]);
        for (unsigned i = 0, n = LLVMGetNumSuccessors(end); i < n; i++) {
            Label next = LLVMGetSuccessor(end, i);
            found |= next == block;
            if (map64_get(&seen, (u64)(uintptr_t)next, &unused))
                continue;
            map64_set(&seen, (u64)(uintptr_t)next, 0);
            VEC_PUSH(&todo, next);
        }
    }
    map64_free(&seen);
    VEC_FREE(&todo);
    return found;
}

/* True if v is a scalar of this iteration, copied to all lanes. */
static bool is_splat(Val v) {
    if (!LLVMIsAShuffleVectorInst(v))
        return false;
    for (unsigned i = 0, n = LLVMGetNumMaskElements(v); i < n; i++)
        if (LLVMGetMaskValue(v, i) != 0)
            return false;
    Val insert = LLVMGetOperand(v, 0);
    Val scalar = LLVMIsAInsertElementInst(insert) ? LLVMGetOperand(insert, 1) : NULL;
    return scalar && LLVMIsAInstruction(scalar) && LLVMGetInstructionParent(scalar) == LLVMGetInstructionParent(v);
}

static bool unpack_web(LlvmUnit *u, Val seed) {
    VectorWeb w = {.u = u};
    bool found = collect(&w, seed);
    if (found)
        take_apart(&w);
    map64_free(&w.index);
    VEC_FREE(&w.member);
    VEC_FREE(&w.scalar);
    return found;
}

/* Unpacks one web. The search for the next one starts anew, because the instructions of this one are gone. */
static bool unpack_one(LlvmUnit *u) {
    for (Label b = LLVMGetFirstBasicBlock(u->spec); b; b = LLVMGetNextBasicBlock(b)) {
        if (!is_in_loop(b))
            continue;
        for (Val in = LLVMGetFirstInstruction(b); in; in = LLVMGetNextInstruction(in))
            if (is_splat(in) && unpack_web(u, in))
                return true;
    }
    return false;
}

bool unpack_vectors(LlvmUnit *u) {
    bool changed = false;
    while (unpack_one(u))
        changed = true;
    return changed;
}
