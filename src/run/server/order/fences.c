/* fences.c: fences between the accesses of a translated function, for hosts whose order is weaker than the guest's: see ir/fences.h.
 *
 * Where the function begins, where it goes on behind a call, and behind C functions that may have accessed the guest's memory, everything is pending. Accesses that are surely to the
 * function's own frame (lift/frame.c), those to the guest state, and loads of return addresses need no fence and are not pending: nobody else sees them. */
#include <llvm-c/Core.h>

#include "ir/fences.h"
#include "ir/scopes.h"
#include "run/server/order/access.h"
#include "run/server/order/order.h"

typedef struct Walk {
    LLVMValueRef fn;
    Fences fences;
    Map64 heads; /* what may be pending where a block begins: two bits, by block */
    bool changed;
} Walk;

/* A function returns the address where the guest goes on, as the last part of its result. What is loaded for nothing else is an address that a call has put on the stack. */
static bool is_return_address(LLVMValueRef access) {
    LLVMUseRef use = LLVMGetFirstUse(access);
    LLVMValueRef user = use && !LLVMGetNextUse(use) ? LLVMGetUser(use) : NULL;
    return user && LLVMIsAInsertValueInst(user) && LLVMGetOperand(user, 1) == access &&
           LLVMGetIndices(user)[0] + 1 == LLVMCountStructElementTypes(LLVMTypeOf(user));
}

static bool is_shared(const Walk *w, LLVMValueRef access, LLVMValueRef pointer) {
    return !access_is_state(pointer, w->fn) && !ir_is_not_guest(access) && !scope_is_own(access) &&
           !(LLVMIsALoadInst(access) && is_return_address(access));
}

/* An access that leaves the function when it faults: one instruction of assembly. It stores if it has no result. */
static void step_assembly(Walk *w, LLVMValueRef call, Pending *p) {
    if (!LLVMIsACallBrInst(call))
        return;
    if (LLVMGetTypeKind(LLVMTypeOf(call)) == LLVMVoidTypeKind)
        fences_store(&w->fences, call, p);
    else
        fences_load(&w->fences, call, p);
}

/* Functions of lifted code return registers, and order their accesses themselves, as if everything were pending when they begin. C functions do not. */
static void step_function(Walk *w, LLVMValueRef call, Pending *p) {
    if (LLVMGetTypeKind(LLVMTypeOf(call)) != LLVMStructTypeKind)
        fences_store(&w->fences, call, p);
    *p = (Pending){true, true};
}

static void step_call(Walk *w, LLVMValueRef call, Pending *p) {
    if (LLVMIsAInlineAsm(LLVMGetCalledValue(call)))
        step_assembly(w, call, p);
    else if (access_is_copy(call))
        fences_store(&w->fences, call, p), p->load = true;
    else if (!access_is_intrinsic(call) && !access_is_limited(call))
        step_function(w, call, p);
}

static void step(Walk *w, LLVMValueRef in, Pending *p) {
    if (LLVMIsALoadInst(in) && is_shared(w, in, LLVMGetOperand(in, 0)))
        fences_load(&w->fences, in, p);
    else if (LLVMIsAStoreInst(in) && is_shared(w, in, LLVMGetOperand(in, 1)))
        fences_store(&w->fences, in, p);
    else if (LLVMIsAAtomicRMWInst(in) || LLVMIsAAtomicCmpXchgInst(in))
        fences_atomic(&w->fences, in, p);
    else if (LLVMIsAFenceInst(in))
        *p = (Pending){false, false}; /* guests have only full ones */
    else if (LLVMIsACallInst(in) || LLVMIsACallBrInst(in))
        step_call(w, in, p);
}

static Pending head_of(const Walk *w, LLVMBasicBlockRef b) {
    u32 bits = 0;
    map64_get(&w->heads, (u64)(uintptr_t)b, &bits);
    return (Pending){bits & 1, bits & 2};
}

static void add_at_head(Walk *w, LLVMBasicBlockRef b, Pending p) {
    Pending head = head_of(w, b);
    if (!pending_join(&head, p))
        return;
    w->changed = true;
    map64_set(&w->heads, (u64)(uintptr_t)b, (head.load ? 1u : 0) | (head.store ? 2u : 0));
}

static void pass_through(Walk *w, LLVMBasicBlockRef b) {
    Pending p = head_of(w, b);
    for (LLVMValueRef in = LLVMGetFirstInstruction(b), next; in; in = next) {
        next = LLVMGetNextInstruction(in); /* fences go in front of it */
        step(w, in, &p);
    }
    LLVMValueRef end = LLVMGetBasicBlockTerminator(b);
    for (unsigned i = 0; i < LLVMGetNumSuccessors(end); i++)
        add_at_head(w, LLVMGetSuccessor(end, i), p);
}

static void walk(Walk *w) {
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(w->fn); b; b = LLVMGetNextBasicBlock(b))
        pass_through(w, b);
}

void memory_order_fence(LLVMValueRef fn, LLVMContextRef ctx, const Host *host) {
    Walk w = {.fn = fn, .fences = {.b = LLVMCreateBuilderInContext(ctx), .host = host}};
    add_at_head(&w, LLVMGetFirstBasicBlock(fn), (Pending){true, true});
    do {
        w.changed = false;
        walk(&w);
    } while (w.changed);
    w.fences.writes = true;
    walk(&w);
    LLVMDisposeBuilder(w.fences.b);
    map64_free(&w.heads);
}
