/* ir.c: types, constants, integers, vectors and memory of the vocabulary; see ir.h. */
#include "ir/ir.h"

static const u16 elem_bits[TY_ELEMS] = {0, 1, 8, 16, 32, 64, 128, 32, 64, 80, 64};

/* ------------------------------------------------------------------------------------------------------------ types */

u32 ty_bits(Ty t) {
    return elem_bits[ty_elem(t)] * ty_lanes(t);
}

Ty ty_int(u32 bits) {
    switch (bits) {
    case 1:
        return I1;
    case 8:
        return I8;
    case 16:
        return I16;
    case 32:
        return I32;
    case 64:
        return I64;
    case 128:
        return I128;
    }
    CHECK(false, "an integer type has 1, 8, 16, 32, 64 or 128 bits");
}

Ty ty_vector(Ty elem, u32 bits) {
    return VECTOR(elem, bits / elem_bits[elem]);
}

Ty ty_as_int(Ty t) {
    return (Ty)(ty_int(elem_bits[ty_elem(t)]) | (t & 0xff00));
}

static LLVMTypeRef make_elem(Lifter *l, Ty elem) {
    switch (elem) {
    case F32:
        return LLVMFloatTypeInContext(l->ctx);
    case F64:
        return LLVMDoubleTypeInContext(l->ctx);
    case F80:
        return LLVMX86FP80TypeInContext(l->ctx);
    case PTR:
        return LLVMPointerTypeInContext(l->ctx, 0);
    default:
        return LLVMIntTypeInContext(l->ctx, elem_bits[elem]);
    }
}

LLVMTypeRef ir_type(Lifter *l, Ty t) {
    if (!t)
        return LLVMVoidTypeInContext(l->ctx);
    u32 slot = ty_is_vector(t) ? 1 + (u32)__builtin_ctz(ty_lanes(t)) : 0;
    LLVMTypeRef *cached = &l->types[ty_elem(t)][slot];
    if (!*cached)
        *cached = slot ? LLVMVectorType(make_elem(l, ty_elem(t)), ty_lanes(t)) : make_elem(l, t);
    return *cached;
}

static Ty ty_of(LLVMTypeRef type) {
    switch (LLVMGetTypeKind(type)) {
    case LLVMIntegerTypeKind:
        return ty_int(LLVMGetIntTypeWidth(type));
    case LLVMFloatTypeKind:
        return F32;
    case LLVMDoubleTypeKind:
        return F64;
    case LLVMX86_FP80TypeKind:
        return F80;
    case LLVMPointerTypeKind:
        return PTR;
    case LLVMVectorTypeKind:
        return VECTOR(ty_of(LLVMGetElementType(type)), LLVMGetVectorSize(type));
    default:
        CHECK(false, "a value of a type outside the vocabulary");
    }
}

Ty ir_ty(Val v) {
    return ty_of(LLVMTypeOf(v));
}

/* -------------------------------------------------------------------------------------------------- alias scopes */

static const char *const space_name[SPACE_COUNT] = {"guest memory", "guest state"};

/* A scope of the one domain. */
static LLVMMetadataRef scope_of(LLVMContextRef ctx, Space s) {
    LLVMMetadataRef domain_name = LLVMMDStringInContext2(ctx, "lathe", 5);
    LLVMMetadataRef parts[] = {LLVMMDStringInContext2(ctx, space_name[s], strlen(space_name[s])),
                               LLVMMDNodeInContext2(ctx, &domain_name, 1)};
    return LLVMMDNodeInContext2(ctx, parts, 2);
}

Val ir_not_guest(LLVMContextRef ctx) {
    LLVMMetadataRef guest = scope_of(ctx, SPACE_GUEST);
    return LLVMMetadataAsValue(ctx, LLVMMDNodeInContext2(ctx, &guest, 1));
}

bool ir_is_not_guest(Val access) {
    LLVMContextRef ctx = LLVMGetTypeContext(LLVMTypeOf(access));
    Val list = LLVMGetMetadata(access, LLVMGetMDKindIDInContext(ctx, "noalias", 7)), scopes[16];
    Val guest = LLVMMetadataAsValue(ctx, scope_of(ctx, SPACE_GUEST));
    u32 count = list ? LLVMGetMDNodeNumOperands(list) : 0;
    if (!count || count > ARRAY_LEN(scopes))
        return false;
    LLVMGetMDNodeOperands(list, scopes);
    for (u32 i = 0; i < count; i++)
        if (scopes[i] == guest)
            return true;
    return false;
}

/* One domain with a scope per space. An access is in the scope of its space, and said not to alias those of the spaces
 * before; of two accesses it is enough if one says so. */
static void make_scopes(Lifter *l) {
    LLVMMetadataRef scope[SPACE_COUNT];
    for (int s = 0; s < SPACE_COUNT; s++) {
        scope[s] = scope_of(l->ctx, (Space)s);
        bool last = s == SPACE_COUNT - 1;
        l->scope[s] = last ? NULL : LLVMMetadataAsValue(l->ctx, LLVMMDNodeInContext2(l->ctx, &scope[s], 1));
        l->noalias[s] = s ? LLVMMetadataAsValue(l->ctx, LLVMMDNodeInContext2(l->ctx, scope, (size_t)s)) : NULL;
    }
    l->md_scope = LLVMGetMDKindIDInContext(l->ctx, "alias.scope", 11);
    l->md_noalias = LLVMGetMDKindIDInContext(l->ctx, "noalias", 7);
}

void ir_begin(Lifter *l, LLVMModuleRef mod) {
    l->host = host_find(l->cfg ? l->cfg->host : LATHE_HOST_OWN);
    l->mod = mod;
    l->ctx = LLVMGetModuleContext(mod);
    l->b = LLVMCreateBuilderInContext(l->ctx);
    make_scopes(l);
}

void ir_end(Lifter *l) {
    LLVMDisposeBuilder(l->b);
}

/* -------------------------------------------------------------------------------------------------------- constants */

static Val splat_const(Val v, u32 lanes) {
    Val all[64];
    for (u32 i = 0; i < lanes; i++)
        all[i] = v;
    return LLVMConstVector(all, lanes);
}

Val ir_int(Lifter *l, Ty t, u64 value) {
    Val v = LLVMConstInt(ir_type(l, ty_elem(t)), value, true);
    return ty_is_vector(t) ? splat_const(v, ty_lanes(t)) : v;
}

Val ir_float(Lifter *l, Ty t, double value) {
    Val v = LLVMConstReal(ir_type(l, ty_elem(t)), value);
    return ty_is_vector(t) ? splat_const(v, ty_lanes(t)) : v;
}

Val ir_zero(Lifter *l, Ty t) {
    return LLVMConstNull(ir_type(l, t));
}

Val ir_ones(Lifter *l, Ty t) {
    return LLVMConstAllOnes(ir_type(l, t));
}

Val ir_bytes(Lifter *l, Ty t, const void *bytes) {
    u32 size = elem_bits[ty_elem(t)] / 8;
    Val all[64];
    for (u32 i = 0; i < ty_lanes(t); i++) {
        u64 lane = 0;
        memcpy(&lane, (const u8 *)bytes + i * size, size);
        all[i] = LLVMConstInt(ir_type(l, ty_elem(t)), lane, false);
    }
    return LLVMConstVector(all, ty_lanes(t));
}

bool ir_is_const(Val v, u64 *value) {
    if (!LLVMIsAConstantInt(v) || LLVMGetIntTypeWidth(LLVMTypeOf(v)) > 64)
        return false;
    *value = LLVMConstIntGetZExtValue(v);
    return true;
}

bool ir_is_sext(Val v, Ty t) {
    return LLVMIsASExtInst(v) && ir_ty(LLVMGetOperand(v, 0)) == t;
}

bool ir_is_arithmetic(Val v) {
    return LLVMIsABinaryOperator(v) || LLVMIsACallInst(v) || LLVMIsAExtractValueInst(v);
}

bool ir_is_sign_of(Val v, Val a) {
    u64 count;
    if (!LLVMIsABinaryOperator(v) || LLVMGetInstructionOpcode(v) != LLVMAShr || LLVMGetOperand(v, 0) != a)
        return false;
    return ir_is_const(LLVMGetOperand(v, 1), &count) && count == ty_bits(ir_ty(a)) - 1;
}

/* ------------------------------------------------------------------------------------------------------ integers */

#define BINARY(name, build)                                                                                            \
    Val name(Lifter *l, Val a, Val b) {                                                                                \
        return build(l->b, a, b, "");                                                                                  \
    }
BINARY(ir_add, LLVMBuildAdd)
BINARY(ir_sub, LLVMBuildSub)
BINARY(ir_mul, LLVMBuildMul)
BINARY(ir_and, LLVMBuildAnd)
BINARY(ir_or, LLVMBuildOr)
BINARY(ir_xor, LLVMBuildXor)
BINARY(ir_shl, LLVMBuildShl)
BINARY(ir_lshr, LLVMBuildLShr)
BINARY(ir_ashr, LLVMBuildAShr)
BINARY(ir_udiv, LLVMBuildUDiv)
BINARY(ir_sdiv, LLVMBuildSDiv)
BINARY(ir_urem, LLVMBuildURem)
BINARY(ir_srem, LLVMBuildSRem)

Val ir_op(Lifter *l, Op op, Val a, Val b) {
    switch (op) {
    case ADD:
        return ir_add(l, a, b);
    case SUB:
        return ir_sub(l, a, b);
    case MUL:
        return ir_mul(l, a, b);
    case AND:
        return ir_and(l, a, b);
    case OR:
        return ir_or(l, a, b);
    case XOR:
        return ir_xor(l, a, b);
    }
    CHECK(false, "an operation of unknown kind");
}

Val ir_not(Lifter *l, Val a) {
    return LLVMBuildNot(l->b, a, "");
}

Val ir_neg(Lifter *l, Val a) {
    return LLVMBuildNeg(l->b, a, "");
}

Val ir_shl_by(Lifter *l, Val a, u32 count) {
    return count ? ir_shl(l, a, ir_int(l, ir_ty(a), count)) : a;
}

Val ir_lshr_by(Lifter *l, Val a, u32 count) {
    return count ? ir_lshr(l, a, ir_int(l, ir_ty(a), count)) : a;
}

Val ir_ashr_by(Lifter *l, Val a, u32 count) {
    return count ? ir_ashr(l, a, ir_int(l, ir_ty(a), count)) : a;
}

Val ir_and_with(Lifter *l, Val a, u64 mask) {
    return ir_and(l, a, ir_int(l, ir_ty(a), mask));
}

Val ir_add_to(Lifter *l, Val a, i64 addend) {
    return addend ? ir_add(l, a, ir_int(l, ir_ty(a), (u64)addend)) : a;
}

Val ir_icmp(Lifter *l, Pred p, Val a, Val b) {
    return LLVMBuildICmp(l->b, (LLVMIntPredicate)p, a, b, "");
}

Val ir_is_zero(Lifter *l, Val a) {
    return ir_icmp(l, EQ, a, LLVMConstNull(LLVMTypeOf(a)));
}

Val ir_is_negative(Lifter *l, Val a) {
    return ir_icmp(l, SLT, a, LLVMConstNull(LLVMTypeOf(a)));
}

Val ir_add_overflows(Lifter *l, Val a, Val b, Val r) {
    Val x = ir_xor(l, a, r), y = ir_xor(l, b, r);
    return ir_is_negative(l, ir_and(l, x, y));
}

Val ir_sub_overflows(Lifter *l, Val a, Val b, Val r) {
    Val x = ir_xor(l, a, b), y = ir_xor(l, a, r);
    return ir_is_negative(l, ir_and(l, x, y));
}

Val ir_select(Lifter *l, Val cond, Val a, Val b) {
    return LLVMBuildSelect(l->b, cond, a, b, "");
}

/* --------------------------------------------------------------------------------------------------- conversions */

Val ir_trunc(Lifter *l, Val v, Ty t) {
    return LLVMTypeOf(v) == ir_type(l, t) ? v : LLVMBuildTrunc(l->b, v, ir_type(l, t), "");
}

Val ir_zext(Lifter *l, Val v, Ty t) {
    return LLVMTypeOf(v) == ir_type(l, t) ? v : LLVMBuildZExt(l->b, v, ir_type(l, t), "");
}

Val ir_sext(Lifter *l, Val v, Ty t) {
    return LLVMTypeOf(v) == ir_type(l, t) ? v : LLVMBuildSExt(l->b, v, ir_type(l, t), "");
}

Val ir_resize(Lifter *l, Val v, Ty t) {
    return ty_bits(ir_ty(v)) > ty_bits(t) ? ir_trunc(l, v, t) : ir_zext(l, v, t);
}

Val ir_bitcast(Lifter *l, Val v, Ty t) {
    Ty from = ir_ty(v);
    if (from == t)
        return v;
    if (t == PTR)
        return LLVMBuildIntToPtr(l->b, v, ir_type(l, t), "");
    if (from == PTR)
        return LLVMBuildPtrToInt(l->b, v, ir_type(l, t), "");
    return LLVMBuildBitCast(l->b, v, ir_type(l, t), "");
}

Val ir_float_bits(Lifter *l, Val v) {
    return ir_zext(l, ir_bitcast(l, v, ty_as_int(ir_ty(v))), I64);
}

Val ir_float_of_bits(Lifter *l, Val v, Ty t) {
    return ir_bitcast(l, ir_trunc(l, v, ty_as_int(t)), t);
}

Val ir_freeze(Lifter *l, Val v) {
    return LLVMBuildFreeze(l->b, v, "");
}

/* ------------------------------------------------------------------------------------------------------ vectors */

static Val lane_index(Lifter *l, u32 lane) {
    return LLVMConstInt(ir_type(l, I32), lane, false);
}

Val ir_extract(Lifter *l, Val vec, u32 lane) {
    return LLVMBuildExtractElement(l->b, vec, lane_index(l, lane), "");
}

Val ir_insert(Lifter *l, Val vec, Val v, u32 lane) {
    return LLVMBuildInsertElement(l->b, vec, v, lane_index(l, lane), "");
}

Val ir_extract_at(Lifter *l, Val vec, Val lane) {
    return LLVMBuildExtractElement(l->b, vec, lane, "");
}

Val ir_insert_at(Lifter *l, Val vec, Val v, Val lane) {
    return LLVMBuildInsertElement(l->b, vec, v, lane, "");
}

Val ir_shuffle(Lifter *l, Val a, Val b, const int *lanes, u32 count) {
    Val mask[64];
    for (u32 i = 0; i < count; i++)
        mask[i] = lanes[i] < 0 ? LLVMGetPoison(ir_type(l, I32)) : lane_index(l, (u32)lanes[i]);
    return LLVMBuildShuffleVector(l->b, a, b, LLVMConstVector(mask, count), "");
}

Val ir_low_lane(Lifter *l, Val v, u32 lanes) {
    return ir_insert(l, LLVMGetPoison(ir_type(l, VECTOR(ir_ty(v), lanes))), v, 0);
}

Val ir_splat(Lifter *l, Val v, u32 lanes) {
    Val one = ir_low_lane(l, v, lanes);
    return LLVMBuildShuffleVector(l->b, one, one, ir_zero(l, VECTOR(I32, lanes)), "");
}

/* ------------------------------------------------------------------------------------------------------- memory */

static void tag(Lifter *l, Val access, Space space) {
    if (l->scope[space])
        LLVMSetMetadata(access, l->md_scope, l->scope[space]);
    if (l->noalias[space])
        LLVMSetMetadata(access, l->md_noalias, l->noalias[space]);
}

Val ir_load(Lifter *l, Ty t, Val ptr, u32 align, Space space) {
    Val v = LLVMBuildLoad2(l->b, ir_type(l, t), ptr, "");
    LLVMSetAlignment(v, align ? align : 1);
    tag(l, v, space);
    return v;
}

void ir_store(Lifter *l, Val v, Val ptr, u32 align, Space space) {
    Val store = LLVMBuildStore(l->b, v, ptr);
    LLVMSetAlignment(store, align ? align : 1);
    tag(l, store, space);
}

void ir_store_lanes(Lifter *l, Val v, Val mask, Val ptr, Space space) {
    static const char name[] = "llvm.masked.store";
    LLVMTypeRef types[] = {LLVMTypeOf(v), LLVMTypeOf(ptr)};
    Val fn = LLVMGetIntrinsicDeclaration(l->mod, LLVMLookupIntrinsicID(name, strlen(name)), types, 2);
    tag(l, ir_call(l, fn, (Val[]){v, ptr, ir_int(l, I32, 1), mask}, 4), space);
}

Val ir_offset(Lifter *l, Val ptr, i64 bytes) {
    if (!bytes)
        return ptr;
    Val off = ir_int(l, I64, (u64)bytes);
    return LLVMBuildGEP2(l->b, ir_type(l, I8), ptr, &off, 1, "");
}

Val ir_index(Lifter *l, Val ptr, Val index, u32 scale_bytes) {
    return LLVMBuildGEP2(l->b, ir_type(l, ty_int(scale_bytes * 8)), ptr, &index, 1, "");
}

Val ir_state(Lifter *l, u32 off_bytes) {
    return ir_offset(l, l->cpu, off_bytes);
}

/* LLVM turns an atomic it does not know to be aligned into a library call; x86 hosts take any alignment, so the natural
 * one is claimed. */
Val ir_rmw(Lifter *l, Rmw op, Val ptr, Val v, Order order) {
    Val r = LLVMBuildAtomicRMW(l->b, (LLVMAtomicRMWBinOp)op, ptr, v, (LLVMAtomicOrdering)order, false);
    tag(l, r, SPACE_GUEST);
    return r;
}

/* A failed exchange stores nothing, so that it cannot release. */
static Order order_on_failure(Order order) {
    return order == ACQ_REL ? ACQUIRE : order == RELEASE ? RELAXED : order;
}

Val ir_cmpxchg(Lifter *l, Val ptr, Val expected, Val desired, Order order) {
    Val pair = LLVMBuildAtomicCmpXchg(l->b, ptr, expected, desired, (LLVMAtomicOrdering)order,
                                      (LLVMAtomicOrdering)order_on_failure(order), false);
    tag(l, pair, SPACE_GUEST);
    return LLVMBuildExtractValue(l->b, pair, 0, "");
}

Val ir_load_atomic(Lifter *l, Ty t, Val ptr, Order order) {
    Val v = ir_load(l, t, ptr, ty_bits(t) / 8, SPACE_GUEST);
    LLVMSetOrdering(v, (LLVMAtomicOrdering)order);
    return v;
}

void ir_store_atomic(Lifter *l, Val v, Val ptr, Order order) {
    Val store = LLVMBuildStore(l->b, v, ptr);
    LLVMSetAlignment(store, ty_bits(ir_ty(v)) / 8);
    LLVMSetOrdering(store, (LLVMAtomicOrdering)order);
    tag(l, store, SPACE_GUEST);
}

void ir_fence(Lifter *l, Order order) {
    LLVMBuildFence(l->b, (LLVMAtomicOrdering)order, false, "");
}
