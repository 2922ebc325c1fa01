/* fences.c: the order of memory accesses on hosts whose order is weaker than that of the program's machine: where the fences of ir/fences.h are needed.
 *
 * What is pending is known at each place from all ways that lead there, through calls, too; native code makes
 * everything pending. No plain access needs more than one fence, and most need none:
 *
 *     none at all in a program that never has a second thread, nor memory that other processes write;
 *     none to the function's own frame, unless its address goes elsewhere: stored, or handed to somebody as a value;
 *     none to constants and return addresses.
 *
 * Atomic instructions are full fences on the program's machine, and get one behind them; a comparison and exchange behind a store has another one in
 * front. */
#include <elf.h>
#include <llvm-c/Core.h>

#include "ir/fences.h"
#include "raise/foreign/foreign.h"

/* A function's: what may be pending where it begins and where it returns. */
typedef struct Ends {
    Pending first, last;
    Map64 heads; /* two bits for each block */
    Map64 frame; /* values that are pointers into its frame */
    bool frame_is_own;
} Ends;

typedef struct Fencer {
    Raise *r;
    const RaiseFunction *f;
    Ends *all, *own; /* of all functions, and of f */
    Map64 by_value;  /* index of a function by what it is in the module */
    Fences fences;
    unsigned guest_mark; /* metadata that accesses to the program's memory have */
    bool changed;
} Fencer;

/* -------------------------------------------------------------------------------------------------------------- the frame */

/* Which function of the program is called; -1: none. */
static i64 callee_of(const Fencer *w, LLVMValueRef call) {
    u32 index;
    return map64_get(&w->by_value, (u64)LLVMGetCalledValue(call), &index) ? (i64)index : -1;
}

/* Is the store one of the stack pointer into the guest state, for a callee? */
static bool is_handed_over(const Fencer *w, LLVMValueRef store) {
    LLVMValueRef cpu = LLVMGetParam(w->f->raised, LLVMCountParams(w->f->raised) - 1);
    u64 off;
    return raise_state_offset(cpu, LLVMGetOperand(store, 1), &off) &&
           off == w->r->isa->regs[w->r->isa->abi.stack].off_bytes;
}

/* Is it handed over as anything but the stack pointer? */
static bool escapes_in_call(LLVMValueRef call, LLVMValueRef v) {
    unsigned stack = raise_stack_operand(call);
    for (unsigned i = 0; i < LLVMGetNumArgOperands(call); i++)
        if (LLVMGetOperand(call, i) == v && i != stack)
            return true;
    return false;
}

/* Does it only compute another address of the frame? */
static bool computes(LLVMValueRef in) {
    return LLVMIsAGetElementPtrInst(in) || LLVMIsAPHINode(in) || LLVMIsASelectInst(in) || LLVMIsACastInst(in) ||
           LLVMIsABinaryOperator(in) || LLVMIsAFreezeInst(in);
}

static bool escapes_at(const Fencer *w, LLVMValueRef user, LLVMValueRef v) {
    if (LLVMIsAStoreInst(user))
        return LLVMGetOperand(user, 0) == v && !is_handed_over(w, user);
    if (LLVMIsACallInst(user) || LLVMIsAInvokeInst(user))
        return escapes_in_call(user, v);
    return !LLVMIsALoadInst(user) && !LLVMIsAICmpInst(user);
}

static void find_frame(Fencer *w) {
    VEC(LLVMValueRef) found = {0};
    w->own->frame_is_own = true;
    VEC_PUSH(&found, LLVMGetParam(w->f->raised, 0)); /* the stack pointer: raise_params() */
    map64_set(&w->own->frame, (u64)found.at[0], 1);
    for (size_t i = 0; i < found.len; i++)
        for (LLVMUseRef u = LLVMGetFirstUse(found.at[i]); u; u = LLVMGetNextUse(u)) {
            LLVMValueRef user = LLVMGetUser(u);
            u32 known;
            if (!computes(user))
                w->own->frame_is_own &= !escapes_at(w, user, found.at[i]);
            else if (!map64_get(&w->own->frame, (u64)user, &known)) {
                map64_set(&w->own->frame, (u64)user, 1);
                VEC_PUSH(&found, user);
            }
        }
    VEC_FREE(&found);
    w->own->first.store |=
        !w->own->frame_is_own; /* the caller's, to arguments on the stack, for which it needs no fence */
}

/* --------------------------------------------------------------------------------------------------------------- accesses */

static bool is_constant(const Fencer *w, LLVMValueRef place) {
    u64 address;
    u8 byte;
    return LLVMIsAConstant(place) && raise_image_address(w->r, place, &address) &&
           elf_read_const(w->r->elf, address, &byte, 1);
}

/* What a call puts on the stack, where nobody looks at it. */
static bool is_return_address(const Fencer *w, LLVMValueRef in) {
    u64 address;
    return LLVMIsAStoreInst(in) && LLVMIsAConstant(LLVMGetOperand(in, 0)) &&
           raise_constant_address(w->r, LLVMGetOperand(in, 0), &address) && elf_is_code(w->r->elf, address);
}

static bool is_shared(const Fencer *w, LLVMValueRef in, LLVMValueRef place) {
    u32 known;
    if (!LLVMGetMetadata(in, w->guest_mark) || is_constant(w, place))
        return false;
    bool in_frame = map64_get(&w->own->frame, (u64)place, &known);
    return !in_frame || !(w->own->frame_is_own || is_return_address(w, in));
}

static bool is_pure(LLVMValueRef call) {
    LLVMValueRef callee = LLVMGetCalledValue(call);
    return LLVMIsAFunction(callee) && LLVMGetIntrinsicID(callee);
}

static void step_call(Fencer *w, LLVMValueRef call, Pending *p) {
    i64 callee = callee_of(w, call);
    if (callee >= 0) {
        w->changed |= pending_join(&w->all[callee].first, *p);
        *p = w->all[callee].last;
    } else {
        *p = (Pending){true, true};
    }
}

static void step(Fencer *w, LLVMValueRef in, Pending *p) {
    if (LLVMIsALoadInst(in) && is_shared(w, in, LLVMGetOperand(in, 0))) {
        fences_load(&w->fences, in, p);
        w->r->counts.shared += w->fences.writes;
    } else if (LLVMIsAStoreInst(in) && is_shared(w, in, LLVMGetOperand(in, 1))) {
        fences_store(&w->fences, in, p);
        w->r->counts.shared += w->fences.writes;
    } else if (LLVMIsAAtomicRMWInst(in) || LLVMIsAAtomicCmpXchgInst(in)) {
        fences_atomic(&w->fences, in, p);
    } else if (LLVMIsAInvokeInst(in) ||
               (LLVMIsACallInst(in) && !LLVMIsAInlineAsm(LLVMGetCalledValue(in)) && !is_pure(in))) {
        step_call(w, in, p);
    } else if (LLVMIsAReturnInst(in)) {
        w->changed |= pending_join(&w->own->last, *p);
    }
}

/* ---------------------------------------------------------------------------------------------------------------- functions */

static Pending pass_through(Fencer *w, LLVMBasicBlockRef b, Pending p) {
    for (LLVMValueRef in = LLVMGetFirstInstruction(b), next; in; in = next) {
        next = LLVMGetNextInstruction(in); /* fences go in front of it */
        step(w, in, &p);
    }
    return p;
}

static void add_at_head(Fencer *w, LLVMBasicBlockRef b, Pending p) {
    u32 before = 0, after;
    map64_get(&w->own->heads, (u64)b, &before);
    after = before | (p.load ? 1u : 0) | (p.store ? 2u : 0);
    w->changed |= after != before;
    map64_set(&w->own->heads, (u64)b, after);
}

/* One pass over the blocks, each with what may be pending at its head. */
static void walk(Fencer *w) {
    LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(w->f->raised);
    add_at_head(w, b, w->own->first);
    for (; b; b = LLVMGetNextBasicBlock(b)) {
        u32 head = 0;
        map64_get(&w->own->heads, (u64)b, &head);
        Pending p = pass_through(w, b, (Pending){head & 1, head & 2});
        LLVMValueRef end = LLVMGetBasicBlockTerminator(b);
        for (unsigned i = 0; end && i < LLVMGetNumSuccessors(end); i++)
            add_at_head(w, LLVMGetSuccessor(end, i), p);
    }
}

static void for_all(Fencer *w, void (*what)(Fencer *w)) {
    for (size_t i = 0; i < w->r->functions.len; i++) {
        w->f = &w->r->functions.at[i];
        w->own = &w->all[i];
        if (w->f->raised)
            what(w);
    }
}

static void begin(Fencer *w) {
    w->own->first = (Pending){w->f->native, w->f->native};
    map64_set(&w->by_value, (u64)w->f->raised, (u32)(w->f - w->r->functions.at));
}

static void end(Fencer *w) {
    map64_free(&w->own->heads);
    map64_free(&w->own->frame);
}

void foreign_add_fences(Raise *r) {
    if (!r->isa->ordered_memory || !fences_needed(r->host) || !raise_may_share(r))
        return;
    Fencer w = {.r = r,
                .all = ARENA_ARRAY(&r->arena, Ends, r->functions.len),
                .fences = {.b = LLVMCreateBuilderInContext(r->ctx), .host = r->host},
                .guest_mark = LLVMGetMDKindIDInContext(r->ctx, "alias.scope", strlen("alias.scope"))};
    for_all(&w, begin);
    for_all(&w, find_frame);
    do {
        w.changed = false;
        for_all(&w, walk);
    } while (w.changed);
    w.fences.writes = true;
    for_all(&w, walk);
    for_all(&w, end);
    map64_free(&w.by_value);
    r->counts.fences += w.fences.count;
    LLVMDisposeBuilder(w.fences.b);
}
