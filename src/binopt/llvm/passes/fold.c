/* fold.c: see fold.h.
 *
 * A load from a known address is folded if the bytes there are declared or mapped constant. Known addresses are represented as offsets from
 * one of two symbols, which become numbers in the end. There are two reasons. LLVM does not count the iterations of a loop between two
 * pointers that are numbers, but it does between two offsets from a symbol. And whether nested constant memory is constant depends on where
 * its address came from, not on its value: whatever LLVM does with an offset from the symbol of such memory, a load through it is a load
 * of constant memory. */
#include "binopt/llvm/passes/fold.h"

#include <llvm-c/Target.h>

typedef enum AddressOrigin { KNOWN_ADDRESS, NESTED_CONST, ORIGIN_COUNT } AddressOrigin;

static const char *const symbol_name[ORIGIN_COUNT] = {"binopt.known", "binopt.nested"};

typedef struct Known {
    u64 value;
    bool nested;
} Known;

/* ------------------------------------------------------------------------------------------------------------ addresses */

static Val symbol_of(LlvmUnit *u, AddressOrigin o) {
    Val symbol = LLVMGetNamedGlobal(u->mod, symbol_name[o]);
    return symbol ? symbol : LLVMAddGlobal(u->mod, LLVMArrayType(ir_type(&u->l, I8), 0), symbol_name[o]);
}

/* Both symbols stand for the same number, an address that occurs in the function. */
static Val pointer_to(LlvmUnit *u, u64 addr, AddressOrigin o) {
    if (!u->symbol_base)
        u->symbol_base = addr;
    Val off = ir_int(&u->l, I64, addr - u->symbol_base);
    return LLVMConstGEP2(ir_type(&u->l, I8), symbol_of(u, o), &off, 1);
}

static bool evaluate(LlvmUnit *u, Val v, Known *k);

static bool evaluate_sum(LlvmUnit *u, Val a, Val b, u64 scale, Known *k) {
    Known x, y;
    if (!evaluate(u, a, &x) || !evaluate(u, b, &y) || (x.nested && y.nested))
        return false;
    *k = (Known){x.value + y.value * scale, x.nested || y.nested};
    return true;
}

static bool evaluate_gep(LlvmUnit *u, Val v, Known *k) {
    LLVMTypeRef element = LLVMGetGEPSourceElementType(v);
    if (LLVMGetNumOperands(v) != 2 || !LLVMTypeIsSized(element))
        return false;
    u64 scale = LLVMABISizeOfType(LLVMGetModuleDataLayout(u->mod), element);
    return evaluate_sum(u, LLVMGetOperand(v, 0), LLVMGetOperand(v, 1), scale, k);
}

/* Gets the number that a constant stands for. Returns false if it is none. */
static bool evaluate(LlvmUnit *u, Val v, Known *k) {
    *k = (Known){0, false};
    if (ir_is_const(v, &k->value))
        return true;
    if (LLVMIsAGlobalVariable(v)) {
        *k = (Known){u->symbol_base, v == LLVMGetNamedGlobal(u->mod, symbol_name[NESTED_CONST])};
        return k->nested || v == LLVMGetNamedGlobal(u->mod, symbol_name[KNOWN_ADDRESS]);
    }
    if (LLVMIsAConstantPointerNull(v))
        return true;
    if (!LLVMIsAConstantExpr(v))
        return false;
    switch (LLVMGetConstOpcode(v)) {
    case LLVMIntToPtr:
    case LLVMPtrToInt:
        return evaluate(u, LLVMGetOperand(v, 0), k);
    case LLVMAdd:
        return evaluate_sum(u, LLVMGetOperand(v, 0), LLVMGetOperand(v, 1), 1, k);
    case LLVMGetElementPtr:
        return evaluate_gep(u, v, k);
    default:
        return false;
    }
}

/* ---------------------------------------------------------------------------------------------------------------- loads */

static bool leads_to_data(LlvmUnit *u, u64 addr) {
    const Mapping *m = maps_find(&u->maps, addr);
    return m && m->read && !m->exec;
}

static bool is_constant(LlvmUnit *u, Known *at, u64 size) {
    switch (config_memory(u->cfg, at->value, size)) {
    case BINOPT_MEM_DYNAMIC:
        return false;
    case BINOPT_MEM_CONST:
        return true;
    case BINOPT_MEM_NESTED_CONST:
        at->nested = true;
        return true;
    case BINOPT_MEM_DEFAULT:
        return at->nested || maps_constant(&u->maps, at->value, size);
    }
    return false;
}

static Val number(LLVMTypeRef type, const u8 *bytes, u32 size) {
    u64 words[2] = {0};
    memcpy(words, bytes, size);
    return LLVMConstIntOfArbitraryPrecision(type, 2, words);
}

static Val pointer_sized(LlvmUnit *u, LLVMTypeRef type, const u8 *bytes, bool nested) {
    u64 addr;
    memcpy(&addr, bytes, sizeof(addr));
    bool is_pointer = LLVMGetTypeKind(type) == LLVMPointerTypeKind;
    if (nested && leads_to_data(u, addr)) {
        Val p = pointer_to(u, addr, NESTED_CONST);
        return is_pointer ? p : LLVMConstPtrToInt(p, type);
    }
    Val n = LLVMConstInt(ir_type(&u->l, I64), addr, false);
    return is_pointer ? LLVMConstIntToPtr(n, type) : n;
}

/* The constant of this type with these bytes in memory; NULL for types that lifted code does not load. */
static Val constant_of(LlvmUnit *u, LLVMTypeRef type, const u8 *bytes, bool nested) {
    switch (LLVMGetTypeKind(type)) {
    case LLVMIntegerTypeKind: {
        u32 bits = LLVMGetIntTypeWidth(type);
        if (bits == 64)
            return pointer_sized(u, type, bytes, nested);
        return bits % 8 || bits > 128 ? NULL : number(type, bytes, bits / 8);
    }
    case LLVMPointerTypeKind:
        return pointer_sized(u, type, bytes, nested);
    case LLVMFloatTypeKind:
        return LLVMConstBitCast(number(ir_type(&u->l, I32), bytes, 4), type);
    case LLVMDoubleTypeKind:
        return LLVMConstBitCast(number(ir_type(&u->l, I64), bytes, 8), type);
    case LLVMVectorTypeKind: {
        u32 lanes = LLVMGetVectorSize(type);
        LLVMTypeRef element = LLVMGetElementType(type);
        u64 size = LLVMStoreSizeOfType(LLVMGetModuleDataLayout(u->mod), element);
        Val all[64];
        for (u32 i = 0; i < lanes && i < ARRAY_LEN(all); i++)
            if (!(all[i] = constant_of(u, element, bytes + i * size, nested)))
                return NULL;
        return lanes <= ARRAY_LEN(all) ? LLVMConstVector(all, lanes) : NULL;
    }
    default:
        return NULL;
    }
}

static Val folded_load(LlvmUnit *u, Val load) {
    Known at;
    u8 bytes[64];
    LLVMTypeRef type = LLVMTypeOf(load);
    u64 size = LLVMStoreSizeOfType(LLVMGetModuleDataLayout(u->mod), type);
    if (LLVMGetVolatile(load) || LLVMGetOrdering(load) != LLVMAtomicOrderingNotAtomic || size > sizeof(bytes))
        return NULL;
    LLVMTypeRef pointer = LLVMTypeOf(LLVMGetOperand(load, 0));
    if (LLVMGetPointerAddressSpace(pointer) || !evaluate(u, LLVMGetOperand(load, 0), &at) || !is_constant(u, &at, size))
        return NULL;
    if (maps_read(at.value, bytes, size) < size)
        return NULL;
    if (!at.nested && config_memory(u->cfg, at.value, size) == BINOPT_MEM_DEFAULT)
        depends_add_read_only(&u->depends, at.value, bytes, size);
    else
        depends_add(&u->depends, at.value, bytes, size);
    return constant_of(u, type, bytes, at.nested);
}

/* ------------------------------------------------------------------------------------------------- integers, comparisons */

static Val plain(LlvmUnit *u, Val v) {
    Known k;
    if (!LLVMIsAConstant(v) || LLVMIsAConstantInt(v) || !evaluate(u, v, &k))
        return v;
    Val n = ir_int(&u->l, I64, k.value);
    return LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMPointerTypeKind ? LLVMConstIntToPtr(n, LLVMTypeOf(v)) : n;
}

/* If both operands are known, replaces them by plain numbers, because only the numbers matter to this operation. */
static bool make_plain(LlvmUnit *u, Val in) {
    Known a, b;
    Val x = LLVMGetOperand(in, 0), y = LLVMGetOperand(in, 1);
    if (!LLVMIsAConstant(x) || !LLVMIsAConstant(y) || !evaluate(u, x, &a) || !evaluate(u, y, &b))
        return false;
    if (LLVMIsAConstantInt(x) && LLVMIsAConstantInt(y))
        return false;
    LLVMSetOperand(in, 0, plain(u, x));
    LLVMSetOperand(in, 1, plain(u, y));
    return true;
}

/* Pointers that are numbers become offsets from the symbol. */
static void relocate(LlvmUnit *u, Val in) {
    Known k;
    for (unsigned i = 0, n = (unsigned)LLVMGetNumOperands(in); i < n; i++) {
        Val op = LLVMGetOperand(in, i);
        if (LLVMIsAConstantExpr(op) && LLVMGetConstOpcode(op) == LLVMIntToPtr && evaluate(u, op, &k) &&
            leads_to_data(u, k.value) && !LLVMGetPointerAddressSpace(LLVMTypeOf(op)))
            LLVMSetOperand(in, i, pointer_to(u, k.value, k.nested ? NESTED_CONST : KNOWN_ADDRESS));
    }
}

static Val folded(LlvmUnit *u, Val in, bool *changed) {
    switch (LLVMGetInstructionOpcode(in)) {
    case LLVMLoad:
        return folded_load(u, in);
    case LLVMICmp:
    case LLVMSub:
    case LLVMAnd:
    case LLVMOr:
    case LLVMXor:
    case LLVMShl:
    case LLVMLShr:
    case LLVMAShr:
        *changed |= make_plain(u, in);
        return NULL;
    default:
        return NULL;
    }
}

/* --------------------------------------------------------------------------------------------------------------- public */

Val fold_parameter(LlvmUnit *u, const Param *p, Ty t) {
    LLVMTypeRef type = ir_type(&u->l, t);
    u64 value = config_extend(p);
    u8 bytes[8];
    memcpy(bytes, &value, sizeof(bytes));
    return constant_of(u, type, bytes, false);
}

Val fold_pointer(LlvmUnit *u, Val v) {
    Known k;
    if (LLVMIsAPtrToIntInst(v))
        return LLVMGetOperand(v, 0);
    if (!LLVMIsAConstant(v) || LLVMGetTypeKind(LLVMTypeOf(v)) != LLVMIntegerTypeKind || !evaluate(u, v, &k))
        return NULL;
    if (LLVMIsAConstantInt(v) && !leads_to_data(u, k.value))
        return NULL;
    return pointer_to(u, k.value, k.nested ? NESTED_CONST : KNOWN_ADDRESS);
}

bool fold_can_load(LlvmUnit *u, Val base, i64 offset) {
    Known at;
    if (!LLVMIsAConstant(base) || LLVMGetPointerAddressSpace(LLVMTypeOf(base)) || !evaluate(u, base, &at))
        return false;
    at.value += (u64)offset;
    return is_constant(u, &at, 1);
}

bool fold_run(LlvmUnit *u) {
    bool changed = false;
    for (Label b = LLVMGetFirstBasicBlock(u->spec); b; b = LLVMGetNextBasicBlock(b))
        for (Val in = LLVMGetFirstInstruction(b), next; in; in = next) {
            next = LLVMGetNextInstruction(in);
            relocate(u, in);
            Val v = folded(u, in, &changed);
            if (!v)
                continue;
            LLVMReplaceAllUsesWith(in, v);
            LLVMInstructionEraseFromParent(in);
            changed = true;
        }
    return changed;
}

void fold_finish(LlvmUnit *u) {
    for (AddressOrigin o = 0; o < ORIGIN_COUNT; o++) {
        Val symbol = LLVMGetNamedGlobal(u->mod, symbol_name[o]);
        if (!symbol)
            continue;
        LLVMReplaceAllUsesWith(symbol, LLVMConstIntToPtr(ir_int(&u->l, I64, u->symbol_base), LLVMTypeOf(symbol)));
        LLVMDeleteGlobal(symbol);
    }
}
