/* exceptions.c: calls that may throw.
 *
 * A program has tables that say where control goes on if a callee throws: at a landing pad of the function, which finds the exception in one
 * register and the number of the clause that has caught it, the selector, in another. Lifted functions have such a call at the end of a block; the
 * next one begins by asking whether the call has thrown, and that is the condition of a branch to the landing pad. Here the call becomes LLVM's `invoke`, with
 * the same types to be caught and the same personality, which is the native library's function that reads tables: LLVM writes new ones
 * for the new code. Selectors are numbered anew in these, so that they are translated at the landing pad.
 *
 *     call f                          invoke f  ──► returned: threw = false ──┐
 *     goto called             ──►        └────────► pad: rax, rdx, rsp;       ├─► called: if (threw) landing pad …
 *     called: if (threw(end)) …                          threw = true ────────┘
 *
 * LLVM then finds that `threw` is a constant on each way. A call of a function that has promised not to throw, and so has no entry in the tables, ends
 * the program if it is left by an exception. */
#include <llvm-c/Core.h>
#include <stdio.h>

#include "raise/rewrite.h"

/* A program that is not position-independent has the address of a stub instead of a function's. */
static ElfReference resolve_stub(Raise *r, ElfReference to) {
    const char *import = to.addr ? raise_import_at(r, to.addr) : NULL;
    return import ? (ElfReference){.symbol = import} : to;
}

/* LLVM numbers exception specifications anew, and does not tell how: if an exception is against one of two, nobody knows which. */
static bool has_two_filters(const ElfLanding *l) {
    int filters = 0;
    for (size_t i = 0; i < l->clauses.len; i++)
        filters += l->clauses.at[i].filter;
    return filters > 1;
}

u64 raise_landing(void *user, const Insn *in) {
    Raise *r = user;
    ElfLandingKind kind;
    ElfLanding l;
    u64 to = LANDING_CALLER;
    if (!elf_landing(r->elf, insn_end(in), &kind, &l)) {
        raise_fail(r, "0x%lx: its table of landing pads cannot be read", in->pc);
    } else if (kind == ELF_LANDING_PAD) {
        to = l.pad;
        if (has_two_filters(&l))
            raise_fail(r,
                       "0x%lx: two exception specifications are in force at a call, which raised programs cannot yet",
                       in->pc);
    } else if (kind == ELF_LANDING_UNLISTED) {
        const char *personality = resolve_stub(r, l.personality).symbol;
        to = personality && !strcmp(personality, RAISE_PERSONALITY) ? LANDING_END : LANDING_CALLER;
    }
    elf_landing_free(&l);
    return to;
}

void raise_caught_regs(const Raise *r, Reg regs[2]) {
    Reg list[REG_MAX];
    raise_results(r, &r->isa->abi.results, list);
    memcpy(regs, list, 2 * sizeof(*regs));
}

/* -------------------------------------------------------------------------------------------------------------- clauses */

/* For another machine, a linker knows other files' symbols by their own names. */
static const char *name_of(Raise *r, const ElfReference *to) {
    if (to->symbol && r->foreign)
        return to->symbol;
    return to->symbol ? arena_printf(&r->arena, RAISE_IMPORT "%s", to->symbol)
                      : arena_printf(&r->arena, RAISE_AT, to->addr);
}

/* A type as LLVM's constant; null: any type. */
static LLVMValueRef type_of(Raise *r, const ElfReference *to) {
    if (!to->symbol && !to->addr)
        return LLVMConstNull(LLVMPointerTypeInContext(r->ctx, 0));
    const char *name = name_of(r, to);
    LLVMValueRef v = LLVMGetNamedGlobal(r->mod, name);
    return v ? v : LLVMAddGlobal(r->mod, LLVMInt8TypeInContext(r->ctx), name);
}

static LLVMValueRef personality_of(Raise *r, const ElfReference *to) {
    ElfReference real = resolve_stub(r, *to);
    const char *name = name_of(r, &real);
    LLVMValueRef v = LLVMGetNamedFunction(r->mod, name);
    if (v)
        return v;
    return LLVMAddFunction(r->mod, name, LLVMFunctionType(LLVMInt32TypeInContext(r->ctx), NULL, 0, true));
}

static LLVMValueRef clause_of(Raise *r, const ElfLanding *l, const ElfClause *c) {
    LLVMTypeRef ptr = LLVMPointerTypeInContext(r->ctx, 0);
    if (!c->filter)
        return type_of(r, &l->types.at[c->first]);
    LLVMValueRef *types = ARENA_ARRAY(&r->arena, LLVMValueRef, c->count + 1);
    for (u32 i = 0; i < c->count; i++)
        types[i] = type_of(r, &l->types.at[c->first + i]);
    return LLVMConstArray2(ptr, types, c->count);
}

/* The number that LLVM's tables have for a type. */
static LLVMValueRef selector_of(Rewriter *w, LLVMValueRef type) {
    static const char name[] = "llvm.eh.typeid.for";
    LLVMTypeRef ptr = LLVMPointerTypeInContext(w->r->ctx, 0);
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    LLVMValueRef fn = LLVMGetIntrinsicDeclaration(w->r->mod, id, &ptr, 1);
    return LLVMBuildCall2(w->b, LLVMIntrinsicGetType(w->r->ctx, id, &ptr, 1), fn, &type, 1, "");
}

/* The program's selector for LLVM's. */
static LLVMValueRef translate_selector(Rewriter *w, const ElfLanding *l, LLVMValueRef selector) {
    LLVMTypeRef word = LLVMInt64TypeInContext(w->r->ctx), half = LLVMInt32TypeInContext(w->r->ctx);
    LLVMValueRef own = LLVMConstInt(word, 0, false);
    for (size_t i = l->clauses.len; i-- > 0;) {
        const ElfClause *c = &l->clauses.at[i];
        LLVMValueRef fits = c->filter ? LLVMBuildICmp(w->b, LLVMIntSLT, selector, LLVMConstInt(half, 0, false), "")
                                      : LLVMBuildICmp(w->b, LLVMIntEQ, selector,
                                                      selector_of(w, type_of(w->r, &l->types.at[c->first])), "");
        own = LLVMBuildSelect(w->b, fits, LLVMConstInt(word, (u64)c->selector, true), own, "");
    }
    return own;
}

/* ----------------------------------------------------------------------------------------------------------------- pads */

static void call_runtime(Rewriter *w, const char *name, LLVMValueRef argument) {
    LLVMTypeRef param = LLVMTypeOf(argument),
                type = LLVMFunctionType(LLVMVoidTypeInContext(w->r->ctx), &param, 1, false);
    LLVMValueRef fn = LLVMGetNamedFunction(w->r->mod, name);
    if (!fn)
        fn = LLVMAddFunction(w->r->mod, name, type);
    LLVMBuildCall2(w->b, type, fn, &argument, 1, "");
}

/* Raised code runs again: the thread's variables say so. */
static void build_landed(Rewriter *w) {
    if (w->r->foreign) {
        call_runtime(w, RAISE_LANDED, rewrite_get(w, w->r->isa->abi.stack));
        return;
    }
    char text[64];
    int len = snprintf(text, sizeof(text), w->r->host->raise->landed, (long)raise_thread_offset(w->r));
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(w->r->ctx), NULL, 0, false);
    LLVMValueRef code = LLVMGetInlineAsm(type, text, (size_t)len, "", 0, true, false, LLVMInlineAsmDialectATT, false);
    LLVMBuildCall2(w->b, type, code, NULL, 0, "");
}

/* A function with landing pads is not inlined: it goes on with an exception by calling _Unwind_Resume(), which must not find the catching landing pad
 * in the frame that it was called from. It would go back to the landing pad that the exception had come to first. */
static LLVMValueRef build_pad(Rewriter *w, const ElfReference *personality, unsigned clauses) {
    LLVMTypeRef parts[] = {LLVMPointerTypeInContext(w->r->ctx, 0), LLVMInt32TypeInContext(w->r->ctx)};
    LLVMTypeRef type = LLVMStructTypeInContext(w->r->ctx, parts, 2, false);
    LLVMAddAttributeAtIndex(w->f->raised, LLVMAttributeFunctionIndex, raise_attribute(w->r, "noinline", 0));
    LLVMValueRef pad = LLVMBuildLandingPad(w->b, type, personality_of(w->r, personality), clauses, "");
    build_landed(w);
    return pad;
}

static LLVMValueRef exception_in(Rewriter *w, LLVMValueRef pad) {
    return LLVMBuildPtrToInt(w->b, LLVMBuildExtractValue(w->b, pad, 0, ""), LLVMInt64TypeInContext(w->r->ctx), "");
}

/* The program's stack pointer behind the call, and that much above. */
static LLVMValueRef stack_above(Rewriter *w, u64 bytes) {
    const CallAbi *abi = &w->r->isa->abi;
    return rewrite_offset(w, w->b, rewrite_get(w, abi->stack), abi->return_address_bytes + bytes);
}

static void build_landing(Rewriter *w, const ElfLanding *l, LLVMBasicBlockRef on) {
    Reg regs[2];
    LLVMValueRef pad = build_pad(w, &l->personality, (unsigned)l->clauses.len);
    for (size_t i = 0; i < l->clauses.len; i++)
        LLVMAddClause(pad, clause_of(w->r, l, &l->clauses.at[i]));
    LLVMSetCleanup(pad, l->cleanup);
    LLVMValueRef exception = exception_in(w, pad),
                 selector = translate_selector(w, l, LLVMBuildExtractValue(w->b, pad, 1, ""));
    raise_caught_regs(w->r, regs);
    rewrite_set(w, regs[0], exception);
    rewrite_set(w, regs[1], selector);
    rewrite_set(w, w->r->isa->abi.stack, stack_above(w, l->popped_bytes));
    LLVMBuildStore(w->b, LLVMConstInt(LLVMInt1TypeInContext(w->r->ctx), 1, false), w->threw);
    LLVMBuildBr(w->b, on);
}

/* As the personality does where a function has promised not to throw. */
static void build_end(Rewriter *w, const ElfLanding *l) {
    LLVMValueRef pad = build_pad(w, &l->personality, 1);
    LLVMAddClause(pad, LLVMConstNull(LLVMPointerTypeInContext(w->r->ctx, 0)));
    if (w->r->foreign) {
        call_runtime(w, RAISE_TERMINATE, exception_in(w, pad));
    } else {
        raise_call_import(w->r, w->b, "__cxa_begin_catch", exception_in(w, pad), stack_above(w, 0), w->cpu);
        raise_call_import(w->r, w->b, "_ZSt9terminatev", NULL, stack_above(w, 0), w->cpu);
    }
    LLVMBuildUnreachable(w->b);
}

/* ---------------------------------------------------------------------------------------------------------------- public */

/* The question whether the call has thrown, which begins the next block; NULL: there is none. */
static LLVMValueRef question_behind(const Rewriter *w, LLVMValueRef call) {
    LLVMValueRef end = LLVMGetNextInstruction(call);
    if (!end || !LLVMIsABranchInst(end) || LLVMGetNumSuccessors(end) != 1)
        return NULL;
    LLVMValueRef first = LLVMGetFirstInstruction(LLVMGetSuccessor(end, 0));
    return first && LLVMIsACallInst(first) && LLVMGetCalledValue(first) == w->r->threw ? first : NULL;
}

static void answer(Rewriter *w, LLVMValueRef question) {
    LLVMTypeRef bit = LLVMInt1TypeInContext(w->r->ctx);
    if (!w->threw)
        w->threw = LLVMBuildAlloca(w->head, bit, "");
    LLVMPositionBuilderBefore(w->b, question);
    LLVMReplaceAllUsesWith(question, LLVMBuildLoad2(w->b, bit, w->threw, ""));
    LLVMInstructionEraseFromParent(question);
}

void rewrite_begin_throwing(Rewriter *w, LLVMValueRef at) {
    LLVMValueRef question = question_behind(w, at);
    ElfLandingKind kind;
    ElfLanding l;
    w->returned = w->pad = NULL;
    if (!question)
        return;
    LLVMBasicBlockRef on = LLVMGetInstructionParent(question);
    u64 end = LLVMConstIntGetZExtValue(LLVMGetOperand(question, 0));
    answer(w, question);
    if (elf_landing(w->r->elf, end, &kind, &l) && kind != ELF_LANDING_NONE) {
        w->returned = LLVMAppendBasicBlockInContext(w->r->ctx, w->f->raised, "returned");
        w->pad = LLVMAppendBasicBlockInContext(w->r->ctx, w->f->raised, "pad");
        LLVMPositionBuilderAtEnd(w->b, w->pad);
        if (kind == ELF_LANDING_PAD)
            build_landing(w, &l, on);
        else
            build_end(w, &l);
    }
    elf_landing_free(&l);
    LLVMPositionBuilderBefore(w->b, at);
}

LLVMValueRef rewrite_build_call(Rewriter *w, LLVMTypeRef type, LLVMValueRef fn, LLVMValueRef *args, unsigned count) {
    if (!w->pad)
        return LLVMBuildCall2(w->b, type, fn, args, count, "");
    LLVMValueRef call = LLVMBuildInvoke2(w->b, type, fn, args, count, w->returned, w->pad, "");
    LLVMPositionBuilderAtEnd(w->b, w->returned);
    return call;
}

void rewrite_end_throwing(Rewriter *w, LLVMValueRef at) {
    if (w->pad) {
        LLVMValueRef end = LLVMGetNextInstruction(at);
        LLVMBuildStore(w->b, LLVMConstInt(LLVMInt1TypeInContext(w->r->ctx), 0, false), w->threw);
        LLVMBuildBr(w->b, LLVMGetSuccessor(end, 0));
        LLVMInstructionEraseFromParent(end);
    }
    LLVMInstructionEraseFromParent(at);
    w->returned = w->pad = NULL;
}
