/* waiting.c: loops that may wait for somebody else's store.
 *
 * A loop that reads memory and does nothing else ends when a signal handler, another process or the kernel writes
 * there. LLVM knows of none of them, moves the loads in front of the loop, and the loop never ends. So there is a fence
 * on every way around through blocks without stores and calls: for the compiler only, no instruction comes of it.
 */
#include <llvm-c/Core.h>

#include "run/server/server.h"

enum { NEW, ON_PATH, DONE }; /* a block, in a search in depth */

typedef struct Search {
    LLVMBuilderRef builder;
    Map64 number; /* of a block */
    u8 *state;
} Search;

static bool is_intrinsic(LLVMValueRef call) {
    LLVMValueRef callee = LLVMGetCalledValue(call);
    return LLVMIsAFunction(callee) && LLVMGetIntrinsicID(callee);
}

/* The guest state is nobody else's. */
static bool is_to_state(LLVMValueRef store) {
    LLVMValueRef ptr = LLVMGetOperand(store, 1), fn = LLVMGetBasicBlockParent(LLVMGetInstructionParent(store));
    while (LLVMIsAGetElementPtrInst(ptr))
        ptr = LLVMGetOperand(ptr, 0);
    return ptr == LLVMGetLastParam(fn);
}

/* No stores, and no calls into what LLVM cannot look into. */
static bool only_reads(LLVMBasicBlockRef b) {
    for (LLVMValueRef in = LLVMGetFirstInstruction(b); in; in = LLVMGetNextInstruction(in)) {
        LLVMOpcode op = LLVMGetInstructionOpcode(in);
        if ((op == LLVMStore && !is_to_state(in)) || op == LLVMFence || op == LLVMAtomicRMW || op == LLVMAtomicCmpXchg ||
            (op == LLVMCall && !is_intrinsic(in)))
            return false;
    }
    return true;
}

static u8 *state_of(Search *s, LLVMBasicBlockRef b) {
    u32 i = 0;
    map64_get(&s->number, (u64)(uintptr_t)b, &i);
    return &s->state[i];
}

static void put_fence(Search *s, LLVMBasicBlockRef b) {
    LLVMValueRef at = LLVMGetFirstInstruction(b);
    while (LLVMIsAPHINode(at))
        at = LLVMGetNextInstruction(at);
    LLVMPositionBuilderBefore(s->builder, at);
    LLVMBuildFence(s->builder, LLVMAtomicOrderingSequentiallyConsistent, true, "");
}

/* Every way around has an edge back to a block on the path of the search; that block gets the fence. */
static void visit(Search *s, LLVMBasicBlockRef b) {
    u8 *state = state_of(s, b);
    LLVMValueRef end = LLVMGetBasicBlockTerminator(b);
    *state = ON_PATH;
    for (u32 i = 0; i < LLVMGetNumSuccessors(end); i++) {
        LLVMBasicBlockRef next = LLVMGetSuccessor(end, i);
        if (*state_of(s, next) == NEW)
            visit(s, next);
        else if (*state_of(s, next) == ON_PATH && only_reads(next))
            put_fence(s, next);
    }
    *state = DONE;
}

void waiting_mark(LLVMValueRef fn, LLVMContextRef ctx) {
    Search s = {.builder = LLVMCreateBuilderInContext(ctx), .state = mem_new(LLVMCountBasicBlocks(fn))};
    u32 count = 0;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(fn); b; b = LLVMGetNextBasicBlock(b)) {
        s.state[count] = only_reads(b) ? NEW : DONE;
        map64_set(&s.number, (u64)(uintptr_t)b, count++);
    }
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(fn); b; b = LLVMGetNextBasicBlock(b))
        if (*state_of(&s, b) == NEW)
            visit(&s, b);
    LLVMDisposeBuilder(s.builder);
    map64_free(&s.number);
    mem_free(s.state);
}
