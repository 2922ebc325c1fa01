/* values.c: see values.h. Goes through the blocks of a function, each behind all that dominate it, and adds masks to what it finds. */
#include "run/server/values/values.h"

#include <stdio.h>

#include "lathe/tool.h"
#include "run/server/values/masks.h"
#include "tool/package.h"

/* At most how much memory a helper of lifted code writes by an address: what fxsave and the like do. And an instruction as assembly. */
enum { HELPER_BYTES = 3072, INSN_BYTES = 64 };

static const char marker_name[] = "lathe.value.at";

/* ------------------------------------------------------------------------------------------------------ the tool's parts */

/* The names of each tool are apart. */
static Val find_in(LLVMModuleRef mod, u32 tool, const char *name) {
    char full[128];
    snprintf(full, sizeof(full), TOOL_PREFIX "%u.%s", tool, name);
    Val found = LLVMGetNamedFunction(mod, full);
    snprintf(full, sizeof(full), TOOL_DATA_PREFIX "%u.%s", tool, name);
    return found ? found : LLVMGetNamedGlobal(mod, full);
}

/* The number of the tool that has all parts, from 1 on; 0: none has. */
static u32 tool_with_parts(LLVMModuleRef mod) {
    for (u32 tool = 1; tool <= TOOLS_MAX; tool++)
        if (find_in(mod, tool, "lathe_undefined") && find_in(mod, tool, "lathe_undefined_used") &&
            find_in(mod, tool, "lathe_undefined_clear") && find_in(mod, tool, "lathe_undefined_set"))
            return tool;
    return 0;
}

bool values_wanted(LLVMModuleRef mod) {
    return tool_with_parts(mod);
}

static Val marker_of(LLVMModuleRef mod) {
    Val marker = LLVMGetNamedFunction(mod, marker_name);
    if (marker)
        return marker;
    LLVMContextRef ctx = LLVMGetModuleContext(mod);
    LLVMTypeRef words[] = {LLVMInt64TypeInContext(ctx), LLVMInt64TypeInContext(ctx)};
    return LLVMAddFunction(mod, marker_name, LLVMFunctionType(LLVMVoidTypeInContext(ctx), words, 2, false));
}

void values_mark(Lifter *l, Val pc, Val sp) {
    Val marker = marker_of(l->mod), args[] = {pc, ir_bitcast(l, sp, I64)};
    LLVMBuildCall2(l->b, LLVMGlobalGetValueType(marker), marker, args, 2, "");
}

void masks_call_tool(const Masks *m, Val function, Val *args, u32 count) {
    LLVMTypeRef type = LLVMGlobalGetValueType(function), types[LATHE_VALUES];
    CHECK(LLVMCountParamTypes(type) == count && count <= LATHE_VALUES, "lathe/tool.h says what these functions take");
    LLVMGetParamTypes(type, types);
    for (u32 i = 0; i < count; i++)
        if (LLVMGetTypeKind(types[i]) == LLVMPointerTypeKind)
            args[i] = LLVMBuildIntToPtr(m->b, args[i], types[i], "");
        else
            args[i] = LLVMBuildIntCast2(m->b, args[i], types[i], false, "");
    LLVMBuildCall2(m->b, type, function, args, count, "");
}

/* ---------------------------------------------------------------------------------------------------------------- the table */

static Val number(const Masks *m, u64 value) {
    return LLVMConstInt(m->word, value, false);
}

static Val in_state(const Masks *m, u32 off) {
    Val index = number(m, off);
    return LLVMBuildGEP2(m->b, m->byte, m->cpu, &index, 1, "");
}

Val masks_at(const Masks *m, Val address) {
    Val folded = LLVMBuildAnd(m->b, address, number(m, LATHE_UNDEFINED_BYTES - 1), "");
    return LLVMBuildIntToPtr(m->b, LLVMBuildAdd(m->b, folded, m->table, ""), LLVMPointerTypeInContext(m->ctx, 0), "");
}

static Val table_of_state(const Masks *m, u32 off) {
    Val at = LLVMBuildAdd(m->b, m->state, number(m, off), "");
    return LLVMBuildIntToPtr(m->b, at, LLVMPointerTypeInContext(m->ctx, 0), "");
}

static Val load_mask(const Masks *m, LLVMTypeRef type, Val at) {
    Val mask = LLVMBuildLoad2(m->b, type, at, "");
    LLVMSetAlignment(mask, 1);
    return mask;
}

static void store_mask(const Masks *m, Val mask, Val at) {
    LLVMSetAlignment(LLVMBuildStore(m->b, mask, at), 1);
}

/* -------------------------------------------------------------------------------------------------------------- addresses */

typedef enum Base { BASE_GUEST, BASE_STATE, BASE_OTHER } Base;

/* What memory a pointer leads to. `off`: where in the state, if that is a constant; else -1. */
static Base base_of(const Masks *m, Val pointer, i64 *off) {
    i64 sum = 0;
    while (LLVMIsAGetElementPtrInst(pointer)) {
        Val index = LLVMGetOperand(pointer, LLVMGetNumOperands(pointer) - 1);
        bool plain = LLVMGetNumOperands(pointer) == 2 && LLVMIsAConstantInt(index) &&
                     LLVMGetGEPSourceElementType(pointer) == m->byte;
        sum = plain && sum >= 0 ? sum + LLVMConstIntGetSExtValue(index) : -1;
        pointer = LLVMGetOperand(pointer, 0);
    }
    *off = sum;
    if (pointer == m->cpu)
        return BASE_STATE;
    bool own = LLVMIsAAllocaInst(pointer) || (LLVMIsAGlobalVariable(pointer) && LLVMGetInitializer(pointer));
    return own || LLVMGetPointerAddressSpace(LLVMTypeOf(pointer)) ? BASE_OTHER : BASE_GUEST;
}

/* Reports what is undefined, once in a block for each mask. */
static void check(Masks *m, Val mask, LatheUndefinedUse use) {
    for (size_t i = 0; i < m->checked.len; i++)
        if (m->checked.at[i] == mask)
            return;
    if (!mask)
        return;
    VEC_PUSH(&m->checked, mask);
    Val any = LLVMBuildZExt(m->b, LLVMBuildFreeze(m->b, mask_any(m, mask), ""), m->word, "");
    u64 off = m->off->own + (m->tool - 1) * LATHE_OWN_WORDS * sizeof(u64);
    Val own = LLVMBuildAdd(m->b, LLVMBuildPtrToInt(m->b, m->cpu, m->word, ""), number(m, off), "");
    Val args[] = {any, number(m, use), m->pc, m->sp, own};
    masks_call_tool(m, m->used, args, ARRAY_LEN(args));
}

static Val table_for(const Masks *m, Val pointer, Base base, i64 off) {
    if (base == BASE_STATE && off >= 0)
        return table_of_state(m, (u32)off);
    return masks_at(m, LLVMBuildPtrToInt(m->b, pointer, m->word, ""));
}

/* ------------------------------------------------------------------------------------------------------------ memory */

static bool is_vector(const Masks *m, Reg reg) {
    return m->isa->regs[reg].kind == REG_VECTOR;
}

/* Vectors have masks on the way between functions only; what is in the guest's state counts as defined. */
static bool is_vector_at(const Masks *m, i64 off) {
    for (u32 r = 0; r < m->isa->reg_count; r++) {
        i64 from = m->isa->regs[r].off_bytes, bytes = m->isa->regs[r].bits / 8;
        if (is_vector(m, (Reg)r) && off >= from && off < from + bytes)
            return true;
    }
    return false;
}

static void follow_load(Masks *m, Val insn, Val next) {
    i64 off;
    Val pointer = LLVMGetOperand(insn, 0);
    Base base = base_of(m, pointer, &off);
    LLVMTypeRef type = mask_type_of(m, insn);
    if (base == BASE_OTHER || !type || (base == BASE_STATE && (off < 0 || is_vector_at(m, off))))
        return;
    if (base == BASE_GUEST)
        check(m, mask_of(m, pointer), LATHE_UNDEFINED_ADDRESS);
    LLVMPositionBuilderBefore(m->b, next);
    mask_set(m, insn, load_mask(m, type, table_for(m, pointer, base, off)));
}

static void follow_write(Masks *m, Val value, Val mask, Val pointer) {
    i64 off;
    Base base = base_of(m, pointer, &off);
    if (base == BASE_OTHER || !mask_type_of(m, value))
        return;
    if (base == BASE_GUEST)
        check(m, mask_of(m, pointer), LATHE_UNDEFINED_ADDRESS);
    store_mask(m, mask_or_zero(m, mask, value), table_for(m, pointer, base, off));
}

static void follow_store(Masks *m, Val insn) {
    Val value = LLVMGetOperand(insn, 0);
    follow_write(m, value, mask_of(m, value), LLVMGetOperand(insn, 1));
}

/* What others may write at the same time counts as defined. */
static void follow_atomic(Masks *m, Val insn) {
    follow_write(m, LLVMGetOperand(insn, 1), NULL, LLVMGetOperand(insn, 0));
}

/* -------------------------------------------------------------------------------------------------------------- functions */

static Val word_in_state(const Masks *m, u32 off) {
    return LLVMBuildLoad2(m->b, m->word, in_state(m, off), "");
}

/* Masks of registers are up to date, as of now: see values.h. Zero is no number of crossings. */
static void note_known(const Masks *m) {
    Val now = LLVMBuildAdd(m->b, word_in_state(m, m->off->crossings), number(m, 1), "");
    LLVMBuildStore(m->b, now, in_state(m, m->off->known));
}

static void call_clear(const Masks *m, Val wanted, Val from, u64 bytes) {
    Val args[] = {LLVMBuildZExt(m->b, wanted, m->word, ""), from, number(m, bytes)};
    masks_call_tool(m, m->clear, args, ARRAY_LEN(args));
}

static Val cpu_word(const Masks *m) {
    return LLVMBuildPtrToInt(m->b, m->cpu, m->word, "");
}

/* The part of the state that has all registers but the vectors. */
static LatheRange plain_registers(const Masks *m) {
    LatheRange range = {m->isa->state_bytes, 0};
    for (u32 r = 0; r < m->isa->reg_count; r++) {
        const RegInfo *reg = &m->isa->regs[r];
        u64 end = reg->off_bytes + (reg->bits + 7) / 8;
        if (is_vector(m, (Reg)r) || !reg->bits)
            continue;
        range.start = reg->off_bytes < range.start ? reg->off_bytes : range.start;
        range.end = end > range.end ? end : range.end;
    }
    return range;
}

/* If quick code has run since, all registers are defined. Returns an i1 that says so; what is done about vectors is load_slot's. */
static Val compare_known(const Masks *m) {
    Val now = LLVMBuildAdd(m->b, word_in_state(m, m->off->crossings), number(m, 1), "");
    Val old = LLVMBuildICmp(m->b, LLVMIntNE, now, word_in_state(m, m->off->known), "");
    LatheRange plain = plain_registers(m);
    call_clear(m, old, LLVMBuildAdd(m->b, cpu_word(m), number(m, plain.start), ""), plain.end - plain.start);
    return old;
}

static u32 slot_off(const Masks *m, u32 slot) {
    return m->isa->regs[m->conv.slot[slot].reg].off_bytes;
}

/* Registers that carry something from one function to another, by the calling convention: what callees leave alone, and arguments on the way there, results on
 * the way back. All others are taken for defined, and so is the stack pointer. */
typedef enum Way { WAY_THERE, WAY_BACK } Way;

static bool is_handed_over(const Masks *m, u32 slot, Way way) {
    const CallAbi *abi = &m->isa->abi;
    Reg reg = m->conv.slot[slot].reg;
    return reg != abi->stack &&
           (regset_has(&abi->kept, reg) || regset_has(way == WAY_THERE ? &abi->passed : &abi->results, reg));
}

/* `old`: of compare_known. */
static Val load_slot(const Masks *m, u32 slot, LLVMTypeRef type, Way way, Val old) {
    if (!is_handed_over(m, slot, way))
        return NULL;
    Val mask = load_mask(m, type, table_of_state(m, slot_off(m, slot)));
    return is_vector(m, m->conv.slot[slot].reg) ? LLVMBuildSelect(m->b, old, LLVMConstNull(type), mask, "") : mask;
}

static void store_slot(const Masks *m, u32 slot, Val mask, Way way) {
    if (is_handed_over(m, slot, way))
        store_mask(m, mask, table_of_state(m, slot_off(m, slot)));
}

static void begin_function(Masks *m) {
    m->first = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(m->function));
    while (LLVMIsAAllocaInst(m->first))
        m->first = LLVMGetNextInstruction(m->first);
    LLVMPositionBuilderBefore(m->b, m->first);
    m->table = LLVMBuildLoad2(m->b, m->word, find_in(m->mod, m->tool, "lathe_undefined"), "");
    LLVMSetMetadata(m->table, LLVMGetMDKindIDInContext(m->ctx, "invariant.load", 14),
                    LLVMMDNodeInContext(m->ctx, NULL, 0));
    Val folded = LLVMBuildAnd(m->b, cpu_word(m), number(m, LATHE_UNDEFINED_BYTES - 1), "");
    m->state = LLVMBuildAdd(m->b, folded, m->table, "");
    m->pc = m->sp = number(m, 0);
    Val old = compare_known(m);
    for (u32 i = 0; i + 1 < LLVMCountParams(m->function); i++) {
        Val param = LLVMGetParam(m->function, i);
        mask_set(m, param, load_slot(m, i, mask_type_of(m, param), WAY_THERE, old));
    }
}

/* A call behind which nothing but a return of its result comes. */
static bool is_tail(Val call) {
    Val next = LLVMGetNextInstruction(call);
    return next && LLVMIsAReturnInst(next) && LLVMGetNumOperands(next) && LLVMGetOperand(next, 0) == call;
}

/* A register that callees leave as it was, before a call. */
typedef struct Kept {
    Reg reg;
    i8 slot; /* of the convention; -1: it is in the guest's state */
    Val value, mask;
} Kept;

enum { KEPT_MOST = 32 };

static u32 note_kept(const Masks *m, Val call, u32 slots, Kept kept[KEPT_MOST]) {
    u32 count = 0;
    for (u32 r = 0; r < m->isa->reg_count && count < KEPT_MOST; r++) {
        const RegInfo *reg = &m->isa->regs[r];
        if (!regset_has(&m->isa->abi.kept, (Reg)r) || reg->kind != REG_INT || reg->bits != 64 || r == m->isa->abi.stack)
            continue;
        i8 slot = m->conv.slot_of[r];
        if (slot >= (i8)slots)
            continue;
        Val arg = slot >= 0 ? LLVMGetOperand(call, (u32)slot) : NULL;
        Val value = arg ? arg : word_in_state(m, reg->off_bytes);
        Val mask =
            arg ? mask_or_zero(m, mask_of(m, arg), arg) : load_mask(m, m->word, table_of_state(m, reg->off_bytes));
        kept[count++] = (Kept){(Reg)r, slot, value, mask};
    }
    return count;
}

/* If quick code has run meanwhile, and a register that callees keep has the value of before, it also has the mask of before. */
static void take_kept(const Masks *m, Val call, Val quick, const Kept *kept, u32 count, CallMasks *masks) {
    for (u32 i = 0; i < count; i++) {
        const Kept *k = &kept[i];
        Val place = table_of_state(m, m->isa->regs[k->reg].off_bytes);
        Val value = k->slot >= 0 ? LLVMBuildExtractValue(m->b, call, (u32)k->slot, "")
                                 : word_in_state(m, m->isa->regs[k->reg].off_bytes);
        Val mask = k->slot >= 0 ? masks->slot[k->slot] : load_mask(m, m->word, place);
        Val same = LLVMBuildICmp(m->b, LLVMIntEQ, value, k->value, "");
        Val now = LLVMBuildSelect(m->b, LLVMBuildAnd(m->b, quick, same, ""), k->mask, mask, "");
        store_mask(m, now, place);
        if (k->slot >= 0)
            masks->slot[k->slot] = now;
    }
}

static void follow_lifted_call(Masks *m, Val call, Val next) {
    u32 slots = LLVMGetNumArgOperands(call) - 1;
    Kept kept[KEPT_MOST];
    u32 kept_count = is_tail(call) ? 0 : note_kept(m, call, slots, kept);
    for (u32 i = 0; i < slots; i++) {
        Val arg = LLVMGetOperand(call, i);
        store_slot(m, i, mask_or_zero(m, mask_of(m, arg), arg), WAY_THERE);
    }
    note_known(m);
    if (is_tail(call))
        return;
    LLVMPositionBuilderBefore(m->b, next);
    Val quick = compare_known(m);
    CallMasks masks = {.count = slots};
    for (u32 i = 0; i < slots; i++)
        masks.slot[i] = load_slot(m, i, mask_type_of(m, LLVMGetOperand(call, i)), WAY_BACK, quick);
    take_kept(m, call, quick, kept, kept_count, &masks);
    map64_set(&m->call_index, (u64)call, (u32)m->calls.len);
    VEC_PUSH(&m->calls, masks);
}

/* The registers that a function returns are put together one by one. */
static void follow_return(Masks *m, Val ret) {
    Val value = LLVMGetNumOperands(ret) ? LLVMGetOperand(ret, 0) : NULL;
    u32 slots = LLVMCountParams(m->function) - 1;
    bool done[CONVENTION_SLOTS + 1] = {false};
    if (!value || (LLVMIsACallInst(value) && is_tail(value)))
        return;
    for (; LLVMIsAInsertValueInst(value); value = LLVMGetOperand(value, 0)) {
        u32 slot = *LLVMGetIndices(value);
        Val inserted = LLVMGetOperand(value, 1);
        if (slot < slots && !done[slot])
            store_slot(m, slot, mask_or_zero(m, mask_of(m, inserted), inserted), WAY_BACK);
        done[slot] = true;
    }
    u32 row = 0;
    bool is_call = map64_get(&m->call_index, (u64)value, &row);
    for (u32 i = 0; i < slots; i++) {
        Val param = LLVMGetParam(m->function, i), mask = is_call ? m->calls.at[row].slot[i] : NULL;
        if (!done[i])
            store_slot(m, i, mask_or_zero(m, mask, param), WAY_BACK);
    }
    note_known(m);
}

/* --------------------------------------------------------------------------------------------------------- other calls */

static bool is_lifted_call(const Masks *m, Val call) {
    return LLVMGetInstructionCallConv(call) == m->conv.cc && LLVMGetNumArgOperands(call) > 1 &&
           LLVMGetTypeKind(LLVMTypeOf(call)) == LLVMStructTypeKind;
}

static bool is_of_tool(Val callee) {
    size_t len;
    return !strncmp(LLVMGetValueName2(callee, &len), TOOL_PREFIX, strlen(TOOL_PREFIX));
}

/* What a function of the run-time library, or assembly, writes by its arguments is defined. */
static void define_arguments(const Masks *m, Val call, u64 bytes) {
    Val always = LLVMConstInt(m->bit, 1, false);
    for (u32 i = 0; i < LLVMGetNumArgOperands(call); i++) {
        i64 off;
        Val arg = LLVMGetOperand(call, i);
        if (LLVMGetTypeKind(LLVMTypeOf(arg)) != LLVMPointerTypeKind)
            continue;
        Base base = base_of(m, arg, &off);
        u64 most = base == BASE_STATE ? off <= 0 ? m->isa->state_bytes : INSN_BYTES : bytes;
        Val from = base == BASE_STATE && off <= 0 ? m->cpu : arg;
        if (base != BASE_OTHER)
            call_clear(m, always, LLVMBuildPtrToInt(m->b, from, m->word, ""), most);
    }
}

/* A system call changes the register with its result; all else it leaves alone. */
static void define_result(const Masks *m) {
    const RegInfo *reg = &m->isa->regs[m->isa->abi.int_result];
    store_mask(m, number(m, 0), table_of_state(m, reg->off_bytes));
}

static bool has_name(Val callee, const char *name) {
    size_t len;
    return !strcmp(LLVMGetValueName2(callee, &len), name);
}

static void follow_other_call(Masks *m, Val call, Val next) {
    Val callee = LLVMGetCalledValue(call);
    if (LLVMIsAFunction(callee) && LLVMGetNumArgOperands(call) == 3 &&
        LLVMGetTypeKind(LLVMTypeOf(call)) == LLVMPointerTypeKind) /* where a computed jump leads: lookup.c */
        check(m, mask_of(m, LLVMGetOperand(call, 1)), LATHE_UNDEFINED_ADDRESS);
    bool is_syscall = has_name(callee, SYMBOL_SYSCALL);
    if (is_syscall)
        note_known(m);
    LLVMPositionBuilderBefore(m->b, next);
    if (is_syscall) { /* it may have been the return of a handler: then the client knows nothing of masks */
        compare_known(m);
        define_result(m);
    } else
        define_arguments(m, call, LLVMIsAInlineAsm(callee) ? INSN_BYTES : HELPER_BYTES);
}

static void follow_call(Masks *m, Val call, Val next) {
    Val callee = LLVMGetCalledValue(call);
    if (is_lifted_call(m, call))
        follow_lifted_call(m, call, next);
    else if (callee == m->marker)
        m->pc = LLVMGetOperand(call, 0), m->sp = LLVMGetOperand(call, 1);
    else if (callee == m->frame)
        frames_undefine(m, LLVMGetOperand(call, 0), LLVMGetOperand(call, 1));
    else if (!is_of_tool(callee))
        follow_other_call(m, call, next);
}

/* ------------------------------------------------------------------------------------------------------------------ blocks */

static void follow_phi(Masks *m, Val phi, Val next) {
    LLVMTypeRef type = mask_type_of(m, phi);
    if (!type)
        return;
    LLVMPositionBuilderBefore(m->b,
                              next); /* a phi itself, or what is behind the last one: then another one stands between */
    mask_set(m, phi, LLVMBuildPhi(m->b, type, ""));
    VEC_PUSH(&m->phis, phi);
}

static void finish_phis(Masks *m) {
    for (size_t i = 0; i < m->phis.len; i++) {
        Val phi = m->phis.at[i], mask = mask_of(m, phi);
        for (u32 k = 0; k < LLVMCountIncoming(phi); k++) {
            Val from = LLVMGetIncomingValue(phi, k), in = mask_or_zero(m, mask_of(m, from), from);
            LLVMBasicBlockRef block = LLVMGetIncomingBlock(phi, k);
            LLVMAddIncoming(mask, &in, &block, 1);
        }
    }
}

static void follow_insn(Masks *m, Val insn, Val next) {
    LLVMPositionBuilderBefore(m->b, insn);
    switch (LLVMGetInstructionOpcode(insn)) {
    case LLVMPHI:
        return follow_phi(m, insn, next);
    case LLVMLoad:
        return follow_load(m, insn, next);
    case LLVMStore:
        return follow_store(m, insn);
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
        return follow_atomic(m, insn);
    case LLVMBr:
        return LLVMIsConditional(insn) ? check(m, mask_of(m, LLVMGetCondition(insn)), LATHE_UNDEFINED_JUMP) : (void)0;
    case LLVMSwitch:
        return check(m, mask_of(m, LLVMGetOperand(insn, 0)), LATHE_UNDEFINED_JUMP);
    case LLVMIndirectBr:
        return check(m, mask_of(m, LLVMGetOperand(insn, 0)), LATHE_UNDEFINED_ADDRESS);
    case LLVMRet:
        return follow_return(m, insn);
    case LLVMCallBr:
        return define_arguments(m, insn, INSN_BYTES);
    default:
        break;
    }
    Val mask = NULL;
    if (next)
        LLVMPositionBuilderBefore(m->b, next);
    if (rule_apply(m, insn, &mask))
        mask_set(m, insn, mask);
    else if (LLVMIsACallInst(insn)) {
        LLVMPositionBuilderBefore(m->b, insn);
        follow_call(m, insn, next);
    }
}

/* The instruction and the stack pointer at the head of a block: of its only predecessor, or none. */
typedef struct Place {
    Val pc, sp;
    u32 ways;     /* that lead there */
    Val *checked; /* masks that were looked at before */
    size_t checked_count;
} Place;

typedef struct Sequence {
    VEC(LLVMBasicBlockRef) blocks; /* each behind those that it was reached from first */
    Map64 number;
    VEC(Place) places; /* by number */
    Arena arena;
} Sequence;

static void visit(Sequence *o, LLVMBasicBlockRef block) {
    u32 unused;
    if (map64_get(&o->number, (u64)block, &unused))
        return;
    map64_set(&o->number, (u64)block, 0);
    Val end = LLVMGetBasicBlockTerminator(block);
    for (u32 i = 0; i < LLVMGetNumSuccessors(end); i++)
        visit(o, LLVMGetSuccessor(end, i));
    VEC_PUSH(&o->blocks, block);
}

/* Blocks in reverse postorder. */
static void put_in_order(Sequence *o, Val function) {
    visit(o, LLVMGetEntryBasicBlock(function));
    for (size_t i = 0, k = o->blocks.len; i + 1 < k; i++) {
        LLVMBasicBlockRef last = o->blocks.at[--k];
        o->blocks.at[k] = o->blocks.at[i];
        o->blocks.at[i] = last;
    }
    for (size_t i = 0; i < o->blocks.len; i++) {
        map64_set(&o->number, (u64)o->blocks.at[i], (u32)i);
        VEC_PUSH(&o->places, (Place){0});
    }
    for (size_t i = 0; i < o->blocks.len; i++) {
        Val end = LLVMGetBasicBlockTerminator(o->blocks.at[i]);
        u32 to;
        for (u32 k = 0; k < LLVMGetNumSuccessors(end); k++)
            if (map64_get(&o->number, (u64)LLVMGetSuccessor(end, k), &to))
                o->places.at[to].ways++;
    }
}

static void hand_on(const Masks *m, Sequence *o, LLVMBasicBlockRef block) {
    Val end = LLVMGetBasicBlockTerminator(block);
    u32 to;
    for (u32 k = 0; k < LLVMGetNumSuccessors(end); k++)
        if (map64_get(&o->number, (u64)LLVMGetSuccessor(end, k), &to)) {
            Place *p = &o->places.at[to];
            p->pc = m->pc;
            p->sp = p->ways == 1 ? m->sp : number(m, 0);
            if (p->ways == 1) {
                p->checked = ARENA_ARRAY(&o->arena, Val, m->checked.len + 1);
                p->checked_count = m->checked.len;
                memcpy(p->checked, m->checked.at, m->checked.len * sizeof(Val));
            }
        }
}

static void follow_block(Masks *m, Sequence *o, u32 index) {
    LLVMBasicBlockRef block = o->blocks.at[index];
    if (o->places.at[index].pc)
        m->pc = o->places.at[index].pc, m->sp = o->places.at[index].sp;
    m->checked.len = 0;
    for (size_t i = 0; i < o->places.at[index].checked_count; i++)
        VEC_PUSH(&m->checked, o->places.at[index].checked[i]);
    for (Val i = index ? LLVMGetFirstInstruction(block) : m->first, next; i; i = next) {
        next = LLVMGetNextInstruction(i);
        follow_insn(m, i, next);
    }
    hand_on(m, o, block);
}

static void remove_marks(Masks *m) {
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(m->function); block; block = LLVMGetNextBasicBlock(block))
        for (Val i = LLVMGetFirstInstruction(block), next; i; i = next) {
            next = LLVMGetNextInstruction(i);
            Val callee = LLVMIsACallInst(i) ? LLVMGetCalledValue(i) : NULL;
            if (callee && (callee == m->marker || callee == m->frame))
                LLVMInstructionEraseFromParent(i);
        }
}

void values_follow(LLVMValueRef function, const Isa *isa, const ToolOffsets *off) {
    LLVMModuleRef mod = LLVMGetGlobalParent(function);
    LLVMContextRef ctx = LLVMGetModuleContext(mod);
    Masks m = {.isa = isa,
               .off = off,
               .ctx = ctx,
               .mod = mod,
               .b = LLVMCreateBuilderInContext(ctx),
               .function = function,
               .cpu = LLVMGetParam(function, LLVMCountParams(function) - 1),
               .bit = LLVMInt1TypeInContext(ctx),
               .byte = LLVMInt8TypeInContext(ctx),
               .word = LLVMInt64TypeInContext(ctx),
               .marker = marker_of(mod),
               .frame = frames_marker(mod),
               .tool = tool_with_parts(mod)};
    m.used = find_in(mod, m.tool, "lathe_undefined_used");
    m.clear = find_in(mod, m.tool, "lathe_undefined_clear");
    m.undefine = find_in(mod, m.tool, "lathe_undefined_set");
    convention_init(&m.conv, isa, host_own(), LATHE_CONVENTION_REGISTERS);
    Sequence o = {0};
    put_in_order(&o, function);
    begin_function(&m);
    for (u32 i = 0; i < o.blocks.len; i++)
        follow_block(&m, &o, i);
    finish_phis(&m);
    remove_marks(&m);
    LLVMDisposeBuilder(m.b);
    map64_free(&m.index), map64_free(&m.call_index), map64_free(&o.number);
    VEC_FREE(&m.all), VEC_FREE(&m.calls), VEC_FREE(&m.phis), VEC_FREE(&m.checked);
    VEC_FREE(&o.blocks), VEC_FREE(&o.places);
    arena_free(&o.arena);
}
