/* frame.c: tells LLVM which accesses are to the function's own frame, and that no others are.
 *
 * Where a function begins, nothing below its stack pointer belongs to anybody: what it puts there, others can only reach by an address that this function has
 * given away. So all values that are made from the stack pointer are followed. If none of them gets into memory, or into a register that other code
 * sees while the function is not over, accesses below the first stack pointer by these values are one kind, and accesses by other values
 * another, which LLVM need not keep in order. A loop then may have in a register what the guest has on its stack.
 *
 * This relies on three things that all compilers have: a callee returns with the stack pointer that it got; other code has no pointers below the stack pointer and
 * its red zone; and where translated code begins in the middle of a function, no other register leads there, either. Locals of such a function may be in the red zone, and
 * pointers to them anywhere: so accesses to the red zone below the first stack pointer may be of either kind. */
#include "ir/scopes.h"
#include "lift/func.h"

typedef struct Derived {
    Val value;
    i64 distance; /* from the stack pointer at the beginning */
    bool known;   /* is the distance? */
} Derived;

typedef struct Frame {
    const LatheFunc *fn;
    u32 slot;           /* of the stack pointer, among arguments and results */
    VEC(Derived) found; /* all values that are made from it */
    Map64 index;        /* in `found`, by value */
    VEC(u32) to_do;     /* whose uses are to be looked at */
    VEC(Val) choices;   /* phis and selects */
    bool given_away;
} Frame;

static Derived *derived(const Frame *f, Val v) {
    u32 i;
    return map64_get(&f->index, (u64)(uintptr_t)v, &i) ? &f->found.at[i] : NULL;
}

/* A value that is found by two ways with different distances is looked at again, with an unknown one. */
static void add(Frame *f, Val v, i64 distance, bool known) {
    Derived *old = derived(f, v);
    u32 i = old ? (u32)(old - f->found.at) : (u32)f->found.len;
    if (old && (!old->known || (known && old->distance == distance)))
        return;
    if (old) {
        old->known = false;
    } else {
        VEC_PUSH(&f->found, ((Derived){v, distance, known}));
        map64_set(&f->index, (u64)(uintptr_t)v, i);
    }
    VEC_PUSH(&f->to_do, i);
}

/* ----------------------------------------------------------------------------------------------------------- uses */

/* The offset in the guest state that a pointer leads to; false: it is no such pointer. */
static bool state_offset(const Frame *f, Val pointer, u64 *off) {
    *off = 0;
    if (LLVMIsAGetElementPtrInst(pointer)) {
        if (LLVMGetNumOperands(pointer) != 2 || !ir_is_const(LLVMGetOperand(pointer, 1), off))
            return false;
        pointer = LLVMGetOperand(pointer, 0);
    }
    return pointer == f->fn->l.cpu;
}

static bool is_stack_register(const Frame *f, Val pointer) {
    u64 off;
    const Isa *isa = f->fn->isa;
    return state_offset(f, pointer, &off) && off == isa->regs[isa->abi.stack].off_bytes;
}

static bool is_intrinsic(Val call) {
    Val callee = LLVMGetCalledValue(call);
    return LLVMIsAFunction(callee) && LLVMGetIntrinsicID(callee);
}

/* Is the function over before other code runs? What it leaves in registers then leads to a frame that is no more. */
static bool is_last(Val in) {
    Val end = LLVMGetBasicBlockTerminator(LLVMGetInstructionParent(in));
    for (; in != end; in = LLVMGetNextInstruction(in))
        if (LLVMIsACallInst(in) && !is_intrinsic(in))
            return false;
    return LLVMIsAReturnInst(end);
}

static void look_at_store(Frame *f, Val store, Val v) {
    Val to = LLVMGetOperand(store, 1);
    u64 off;
    if (LLVMGetOperand(store, 0) == v && !is_stack_register(f, to) && !(state_offset(f, to, &off) && is_last(store)))
        f->given_away = true;
}

/* The callee has it as its stack pointer, and returns with it. */
static void look_at_call(Frame *f, Val call, const Derived *d) {
    for (u32 i = 0, n = LLVMGetNumArgOperands(call); i < n; i++)
        if (LLVMGetOperand(call, i) == d->value && (i != f->slot || LLVMGetInstructionCallConv(call) != f->fn->conv.cc))
            f->given_away = true;
    u32 popped = f->fn->isa->abi.return_address_bytes;
    for (LLVMUseRef use = LLVMGetFirstUse(call); use && !f->given_away; use = LLVMGetNextUse(use)) {
        Val user = LLVMGetUser(use);
        if (LLVMIsAExtractValueInst(user) && *LLVMGetIndices(user) == f->slot)
            add(f, user, d->distance + popped, d->known);
    }
}

/* The pointer or integer with something added, or subtracted from it. */
static void look_at_sum(Frame *f, Val sum, const Derived *d) {
    u64 addend;
    bool second = LLVMGetOperand(sum, 0) != d->value;
    Val other = LLVMGetOperand(sum, !second);
    bool known = ir_is_const(other, &addend);
    LLVMOpcode op = LLVMGetInstructionOpcode(sum);
    if (LLVMGetNumOperands(sum) != 2 || derived(f, other) || (second && op != LLVMAdd))
        f->given_away = true;
    else
        add(f, sum, d->distance + (!known ? 0 : op == LLVMSub ? -(i64)addend : (i64)addend), d->known && known);
}

static void look_at(Frame *f, Val user, const Derived *d) {
    switch (LLVMGetInstructionOpcode(user)) {
    case LLVMLoad:
    case LLVMICmp:
    case LLVMInsertValue: /* of what the function returns */
        break;
    case LLVMStore:
        look_at_store(f, user, d->value);
        break;
    case LLVMCall:
        look_at_call(f, user, d);
        break;
    case LLVMPtrToInt:
    case LLVMIntToPtr:
        add(f, user, d->distance, d->known);
        break;
    case LLVMAdd:
    case LLVMSub:
    case LLVMGetElementPtr:
        look_at_sum(f, user, d);
        break;
    case LLVMPHI:
    case LLVMSelect:
        if (!derived(f, user))
            VEC_PUSH(&f->choices, user);
        add(f, user, d->distance, d->known);
        break;
    default:
        f->given_away = true;
    }
}

/* What may be of the frame or not is as good as given away. */
static bool is_mixed(const Frame *f, Val choice) {
    bool phi = LLVMIsAPHINode(choice);
    u32 count = phi ? LLVMCountIncoming(choice) : 2;
    for (u32 i = 0; i < count; i++) {
        Val from = phi ? LLVMGetIncomingValue(choice, i) : LLVMGetOperand(choice, i + 1);
        if (!derived(f, from) && !LLVMIsUndef(from))
            return true;
    }
    return false;
}

static void follow(Frame *f) {
    for (size_t i = 0; i < f->to_do.len && !f->given_away; i++) {
        Derived d = f->found.at[f->to_do.at[i]];
        for (LLVMUseRef use = LLVMGetFirstUse(d.value); use && !f->given_away; use = LLVMGetNextUse(use))
            look_at(f, LLVMGetUser(use), &d);
    }
    for (size_t i = 0; i < f->choices.len && !f->given_away; i++)
        f->given_away = is_mixed(f, f->choices.at[i]);
}

/* --------------------------------------------------------------------------------------------------------- accesses */

typedef void AccessFn(Frame *f, const OwnScope *own, Val access);

static void each_access(Frame *f, const OwnScope *own, AccessFn *fn) {
    for (Label b = LLVMGetFirstBasicBlock(f->fn->l.fn); b; b = LLVMGetNextBasicBlock(b))
        for (Val in = LLVMGetFirstInstruction(b); in; in = LLVMGetNextInstruction(in))
            if (LLVMIsALoadInst(in) || LLVMIsAStoreInst(in))
                fn(f, own, in);
}

/* Behind what calls C, the stack pointer is in the guest state. */
static void begin_at_load(Frame *f, const OwnScope *own, Val access) {
    (void)own;
    if (LLVMIsALoadInst(access) && is_stack_register(f, LLVMGetOperand(access, 0)))
        add(f, access, 0, false);
}

static void mark(Frame *f, const OwnScope *own, Val access) {
    bool store = LLVMIsAStoreInst(access);
    const Derived *d = derived(f, LLVMGetOperand(access, store));
    i64 size = ty_bits(ir_ty(store ? LLVMGetOperand(access, 0) : access)) / 8;
    bool is_own = d && d->known && d->distance + size <= -(i64)f->fn->isa->abi.red_zone_bytes;
    scope_say(&f->fn->l, own, access, is_own ? SCOPE_IN : d ? SCOPE_EITHER : SCOPE_OUT);
}

void frame_mark(LatheFunc *fn) {
    i8 slot = fn->conv.slot_of[fn->isa->abi.stack];
    if (!fn->conv.in_registers || slot < 0)
        return;
    Frame f = {.fn = fn, .slot = (u32)slot};
    add(&f, LLVMGetParam(fn->l.fn, f.slot), 0, true);
    each_access(&f, NULL, begin_at_load);
    follow(&f);
    if (!f.given_away) {
        OwnScope own = scope_new(&fn->l, NULL);
        each_access(&f, &own, mark);
    }
    VEC_FREE(&f.found);
    VEC_FREE(&f.to_do);
    VEC_FREE(&f.choices);
    map64_free(&f.index);
}
