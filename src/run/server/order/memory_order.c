/* memory_order.c: restricts what LLVM may do with the guest's memory accesses, because LLVM assumes that nobody else accesses that memory.
 *
 * A loop that only reads memory ends when a signal handler, another process or the kernel writes there. LLVM knows of none of them: it moves
 * the loads in front of the loop, and the loop never ends. So every cycle through blocks without stores and calls gets a fence. It is a
 * fence for the compiler only and becomes no instruction: an assembly of nothing, which is said to change all memory but the function's own frames (lift/frame.c).
 *
 * With several threads, every loop may be one that waits, whatever else it does, and gets a fence. For guests with a weak memory order that
 * is all: between fences they have to expect any order that LLVM chooses. For guests with a strong order, every access is made volatile, so
 * that LLVM keeps it and its place; the host does the rest if it has the same order, and otherwise there are fences (fences.c). */
#include <llvm-c/Core.h>

#include "ir/fences.h"
#include "ir/scopes.h"
#include "run/server/order/access.h"
#include "run/server/order/order.h"

enum { NEW, ON_PATH, DONE }; /* the state of a block in a depth-first search */

typedef struct Search {
    LLVMBuilderRef builder;
    bool alone;
    LLVMValueRef frames; /* the scopes that a fence is not for, as metadata; NULL: none */
    unsigned noalias;    /* the kind of that metadata */
    Map64 number;        /* the index of a block */
    u8 *state;
} Search;

static LLVMValueRef callee_of(LLVMValueRef call) {
    LLVMValueRef callee = LLVMGetCalledValue(call);
    return LLVMIsAFunction(callee) ? callee : NULL;
}

bool access_is_intrinsic(LLVMValueRef call) {
    LLVMValueRef callee = callee_of(call);
    return callee && LLVMGetIntrinsicID(callee);
}

bool access_is_state(LLVMValueRef ptr, LLVMValueRef fn) {
    while (LLVMIsAGetElementPtrInst(ptr))
        ptr = LLVMGetOperand(ptr, 0);
    return ptr == LLVMGetLastParam(fn);
}

/* A pointer to something else than the guest state may be one to the guest's memory. */
static bool is_given_memory(LLVMValueRef call) {
    LLVMValueRef fn = LLVMGetBasicBlockParent(LLVMGetInstructionParent(call));
    for (unsigned i = 0; i < LLVMGetNumArgOperands(call); i++) {
        LLVMValueRef given = LLVMGetOperand(call, i);
        if (LLVMGetTypeKind(LLVMTypeOf(given)) == LLVMPointerTypeKind && !access_is_state(given, fn) &&
            !LLVMIsAAllocaInst(given))
            return true;
    }
    return false;
}

bool access_is_limited(LLVMValueRef call) {
    static const char name[] = "memory";
    unsigned kind = LLVMGetEnumAttributeKindForName(name, sizeof(name) - 1);
    LLVMValueRef callee = callee_of(call);
    bool known = LLVMGetCallSiteEnumAttribute(call, LLVMAttributeFunctionIndex, kind) ||
                 (callee && LLVMGetEnumAttributeAtIndex(callee, LLVMAttributeFunctionIndex, kind));
    return known && !is_given_memory(call);
}

/* ---------------------------------------------------------------------------------------------------------------- loops */

/* True if LLVM does not move loads across this instruction. Stores count only if there is one thread, which alone sees
 * the difference, and only if they may be to memory that others see: not to a tool's own memory, nor to the function's own frame. */
static bool keeps_loads(const Search *s, LLVMValueRef in, LLVMValueRef fn) {
    switch (LLVMGetInstructionOpcode(in)) {
    case LLVMFence:
        return true;
    case LLVMCall:
        return !access_is_intrinsic(in) && !access_is_limited(in);
    case LLVMStore:
        return s->alone && !access_is_state(LLVMGetOperand(in, 1), fn) && !ir_is_not_guest(in) && !scope_is_own(in);
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
        return s->alone;
    default:
        return false;
    }
}

static bool may_wait(const Search *s, LLVMBasicBlockRef b) {
    for (LLVMValueRef in = LLVMGetFirstInstruction(b); in; in = LLVMGetNextInstruction(in))
        if (keeps_loads(s, in, LLVMGetBasicBlockParent(b)))
            return false;
    return true;
}

static u8 *state_of(Search *s, LLVMBasicBlockRef b) {
    u32 i = 0;
    map64_get(&s->number, (u64)(uintptr_t)b, &i);
    return &s->state[i];
}

/* What follows the fence is always reached: otherwise LLVM would leave what it computes in the loop. */
static void put_fence(Search *s, LLVMBasicBlockRef b) {
    LLVMValueRef at = LLVMGetFirstInstruction(b);
    while (LLVMIsAPHINode(at))
        at = LLVMGetNextInstruction(at);
    LLVMPositionBuilderBefore(s->builder, at);
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(LLVMGetTypeContext(LLVMTypeOf(at))), NULL, 0, false);
    static char clobbers[] = "~{memory}";
    LLVMValueRef nothing =
        LLVMGetInlineAsm(type, "", 0, clobbers, sizeof(clobbers) - 1, true, false, LLVMInlineAsmDialectATT, false);
    LLVMValueRef fence = LLVMBuildCall2(s->builder, type, nothing, NULL, 0, "");
    ir_call_attribute(fence, "nounwind", 0);
    ir_call_attribute(fence, "willreturn", 0);
    LLVMSetMetadata(fence, s->noalias, s->frames);
}

/* Every cycle has an edge back to a block that is on the path of the search. That block gets a fence, unless it has
 * one. */
static void visit(Search *s, LLVMBasicBlockRef b) {
    u8 *state = state_of(s, b);
    LLVMValueRef end = LLVMGetBasicBlockTerminator(b);
    *state = ON_PATH;
    for (u32 i = 0; i < LLVMGetNumSuccessors(end); i++) {
        LLVMBasicBlockRef next = LLVMGetSuccessor(end, i);
        if (*state_of(s, next) == NEW)
            visit(s, next);
        else if (*state_of(s, next) == ON_PATH && may_wait(s, next))
            put_fence(s, next);
    }
    *state = DONE;
}

static void fence_loops(LLVMValueRef fn, LLVMContextRef ctx, bool alone) {
    Search s = {.builder = LLVMCreateBuilderInContext(ctx),
                .alone = alone,
                .frames = scope_all(fn),
                .noalias = LLVMGetMDKindIDInContext(ctx, "noalias", 7),
                .state = mem_new(LLVMCountBasicBlocks(fn))};
    u32 count = 0;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(fn); b; b = LLVMGetNextBasicBlock(b)) {
        s.state[count] = may_wait(&s, b) ? NEW : DONE;
        map64_set(&s.number, (u64)(uintptr_t)b, count++);
    }
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(fn); b; b = LLVMGetNextBasicBlock(b))
        if (*state_of(&s, b) == NEW)
            visit(&s, b);
    LLVMDisposeBuilder(s.builder);
    map64_free(&s.number);
    mem_free(s.state);
}

/* ------------------------------------------------------------------------------------------------------------- accesses */

bool access_is_copy(LLVMValueRef call) {
    size_t size;
    LLVMValueRef callee = callee_of(call);
    const char *name = callee ? LLVMGetValueName2(callee, &size) : "";
    return !strncmp(name, "llvm.mem", 8);
}

/* The last operand of memcpy and similar intrinsics says whether the copy is volatile. */
static void make_copy_volatile(LLVMValueRef call) {
    unsigned last = LLVMGetNumArgOperands(call) - 1;
    if (access_is_copy(call))
        LLVMSetOperand(call, last, LLVMConstInt(LLVMTypeOf(LLVMGetOperand(call, last)), 1, false));
}

/* Makes an access volatile: LLVM may neither omit it nor move it across others. */
static void keep_access(LLVMValueRef in, LLVMValueRef fn) {
    switch (LLVMGetInstructionOpcode(in)) {
    case LLVMLoad:
        if (!access_is_state(LLVMGetOperand(in, 0), fn))
            LLVMSetVolatile(in, true);
        break;
    case LLVMStore:
        if (!access_is_state(LLVMGetOperand(in, 1), fn))
            LLVMSetVolatile(in, true);
        break;
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
        LLVMSetVolatile(in, true);
        break;
    case LLVMCall:
        make_copy_volatile(in);
        break;
    default:
        break;
    }
}

static void keep_accesses(LLVMValueRef fn) {
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(fn); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef in = LLVMGetFirstInstruction(b); in; in = LLVMGetNextInstruction(in))
            keep_access(in, fn);
}

void memory_order_keep(LLVMValueRef fn, LLVMContextRef ctx, MemoryOrder order, const Host *host) {
    if (order != MEMORY_STRONG) {
        fence_loops(fn, ctx, order == MEMORY_ALONE);
        return;
    }
    keep_accesses(fn);
    if (fences_needed(host))
        memory_order_fence(fn, ctx, host);
}
