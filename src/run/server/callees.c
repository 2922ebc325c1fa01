/* callees.c: the small functions that are translated together with the function that calls them.
 *
 * A function that is called directly, lies in the same file, is small and leaves only by its return is lifted into the caller's module, and LLVM puts its
 * code in the place of each call. Nothing else changes: the code still compares the pc that the callee returns with the one behind the call
 * (docs/convention.md), which LLVM often finds to be the same. A function that calls others is small only if these are. */
#include "run/protocol/small.h"

#include <llvm-c/Core.h>

#include "lift/func.h"
#include "run/server/server.h"

typedef enum Kind {
    KIND_OPEN, /* the walk came from there: if it comes there again, that is a recursion */
    KIND_OTHER,
    KIND_SMALL,
} Kind;

typedef struct Callee {
    u64 pc;
    Kind kind;
    LatheFunc *fn;     /* of a small one */
    u32 insns;         /* with those of the functions that it calls */
    bool used, chosen; /* it is part of the translation, and by calls of the outermost function itself */
    LLVMValueRef lifted;
} Callee;

struct Callees {
    LatheConfig cfg;
    LatheTuning tuning; /* what `cfg` points to */
    u64 base, end;
    VEC(Callee) all;
    u32 added;     /* instructions, by all calls */
    bool complete; /* all that are used are lifted */
};

static Callee *find(const Callees *c, u64 pc) {
    for (size_t i = 0; i < c->all.len; i++)
        if (c->all.at[i].pc == pc)
            return &c->all.at[i];
    return NULL;
}

static bool has(const LatheFunc *fn, u64 pc) {
    u32 unused;
    return map64_get(&fn->by_pc, pc, &unused);
}

/* True if the instruction leaves the function by nothing but a return or a direct call. */
static bool stays(const LatheFunc *fn, const Insn *in) {
    if (!in->row || in->special || in->calls_out)
        return false;
    switch ((Flow)in->flow) {
    case FLOW_NEXT:
        return has(fn, insn_end(in));
    case FLOW_JUMP:
        return has(fn, in->target);
    case FLOW_BRANCH:
        return has(fn, in->target) && has(fn, insn_end(in));
    case FLOW_CALL:
        return in->target && has(fn, insn_end(in));
    case FLOW_INDIRECT:
        return in->table;
    case FLOW_RETURN:
        return true;
    case FLOW_SYSCALL:
    case FLOW_STOP:
        return false;
    }
    return false;
}

static Kind kind_of(Callees *c, u64 pc, u32 depth);

/* How many instructions the function has if all that it calls is put in its place; 0: it is not small. */
static u32 small_size(Callees *c, const LatheFunc *fn, u32 depth) {
    u32 insns = (u32)fn->insns.len;
    for (size_t i = 0; i < fn->insns.len && insns <= SMALL_INSNS; i++) {
        const Insn *in = &fn->insns.at[i];
        if (!stays(fn, in) || (in->flow == FLOW_CALL && kind_of(c, in->target, depth + 1) != KIND_SMALL))
            return 0;
        insns += in->flow == FLOW_CALL ? find(c, in->target)->insns : 0;
    }
    return insns <= SMALL_INSNS ? insns : 0;
}

static LatheFunc *decode(Callees *c, u64 pc) {
    LatheFunc *fn = lathe_func_new(LLVMGetGlobalParent(c->cfg.dispatch), &c->cfg);
    bool ok = lathe_func_decode_cfg(fn, pc) == LATHE_OK && lathe_func_problem(fn).status == LATHE_OK;
    if (!ok) {
        lathe_func_free(fn);
        return NULL;
    }
    return fn;
}

/* Looks at the function at pc, which is called from `depth` functions one in the other. */
static Kind kind_of(Callees *c, u64 pc, u32 depth) {
    Callee *known = find(c, pc);
    if (known)
        return known->kind;
    if (depth > SMALL_DEPTH || pc < c->base || pc >= c->end)
        return KIND_OTHER;
    size_t at = c->all.len;
    VEC_PUSH(&c->all, ((Callee){.pc = pc}));
    LatheFunc *fn = decode(c, pc);
    u32 insns = fn && !func_changes_rounding(fn) ? small_size(c, fn, depth) : 0;
    if (!insns)
        lathe_func_free(fn);
    c->all.at[at] = (Callee){pc, insns ? KIND_SMALL : KIND_OTHER, insns ? fn : NULL, insns, false, false, NULL};
    return c->all.at[at].kind;
}

/* Marks the function and all that it calls. */
static void use(Callees *c, u64 pc) {
    Callee *e = find(c, pc);
    e->used = true;
    for (size_t i = 0; i < e->fn->insns.len; i++)
        if (e->fn->insns.at[i].flow == FLOW_CALL)
            use(c, e->fn->insns.at[i].target);
}

u32 callees_count(const LatheFunc *fn, u64 target) {
    u32 count = 0;
    for (size_t i = 0; i < fn->insns.len; i++)
        count += fn->insns.at[i].flow == FLOW_CALL && fn->insns.at[i].target == target;
    return count;
}

/* All calls of one function are treated alike. */
static void choose(Callees *c, const LatheFunc *fn) {
    u32 most = c->tuning.exact_faults ? SMALL_ADDED / 3 : SMALL_ADDED; /* such code takes LLVM longer */
    for (size_t i = 0; i < fn->insns.len; i++) {
        const Insn *in = &fn->insns.at[i];
        if (in->flow != FLOW_CALL || !in->target || kind_of(c, in->target, 1) != KIND_SMALL ||
            find(c, in->target)->chosen)
            continue;
        u32 adds = callees_count(fn, in->target) * find(c, in->target)->insns;
        if (c->added + adds > most)
            continue;
        c->added += adds;
        use(c, in->target);
        find(c, in->target)->chosen = true;
    }
}

/* LLVM puts one function into another only if their signatures are the same. */
static void match(Callees *c, LatheFunc *fn) {
    VEC(LatheFunc *) fns = {0};
    VEC_PUSH(&fns, fn);
    for (size_t i = 0; i < c->all.len; i++)
        if (c->all.at[i].used)
            VEC_PUSH(&fns, c->all.at[i].fn);
    func_match(fns.at, fns.len);
    VEC_FREE(&fns);
}

Callees *callees_choose(LatheFunc *fn, const LatheConfig *cfg, u64 base, u64 end) {
    Callees *c = mem_new(sizeof(Callees));
    c->cfg = *cfg;
    c->tuning = *tuning_of(cfg);
    c->cfg.tuning = &c->tuning;
    c->cfg.max_insns = SMALL_INSNS + 1;
    c->tuning.is_outside = NULL;
    c->base = c->cfg.code_start = base;
    c->end = c->cfg.code_end = end;
    VEC_PUSH(&c->all, ((Callee){.pc = fn->entry_pc}));
    if (!func_changes_rounding(fn)) /* else it is lifted in another way than they are */
        choose(c, fn);
    match(c, fn);
    return c;
}

static void mark_inlined(LLVMValueRef fn) {
    static const char name[] = "alwaysinline";
    unsigned kind = LLVMGetEnumAttributeKindForName(name, sizeof(name) - 1);
    LLVMContextRef ctx = LLVMGetModuleContext(LLVMGetGlobalParent(fn));
    LLVMSetLinkage(fn, LLVMInternalLinkage);
    LLVMAddAttributeAtIndex(fn, LLVMAttributeFunctionIndex, LLVMCreateEnumAttribute(ctx, kind, 0));
}

/* One after the other, what is called first: a function is complete before the next one is begun. */
static void lift(Callees *c, u64 pc) {
    Callee *e = find(c, pc);
    if (e->lifted)
        return;
    for (size_t i = 0; i < e->fn->insns.len; i++)
        if (e->fn->insns.at[i].flow == FLOW_CALL)
            lift(c, e->fn->insns.at[i].target);
    e->lifted = lathe_func_lift(e->fn, "callee");
    CHECK(e->lifted, "what was decoded without a problem can be lifted");
    mark_inlined(e->lifted);
}

void callees_lift(Callees *c) {
    for (size_t i = 0; c && i < c->all.len; i++)
        if (c->all.at[i].used)
            lift(c, c->all.at[i].pc);
    if (c)
        c->complete = true;
}

LLVMValueRef callees_lifted(const Callees *c, u64 pc) {
    const Callee *e = c ? find(c, pc) : NULL;
    return e && (e->chosen || !c->complete) ? e->lifted : NULL;
}

bool callees_at(const Callees *c, size_t index, LLVMValueRef *lifted, u64 *pc) {
    for (size_t i = 0; c && i < c->all.len; i++)
        if (c->all.at[i].lifted && !index--) {
            *lifted = c->all.at[i].lifted;
            *pc = c->all.at[i].pc;
            return true;
        }
    return false;
}

u32 callees_insns(const Callees *c) {
    return c ? c->added : 0;
}

void callees_note_source(const Callees *c, LatheFunc *fn) {
    for (size_t i = 0; c && i < c->all.len; i++)
        if (c->all.at[i].used)
            func_depend(fn, c->all.at[i].fn);
}

void callees_free(Callees *c) {
    if (!c)
        return;
    for (size_t i = 0; i < c->all.len; i++)
        lathe_func_free(c->all.at[i].fn);
    VEC_FREE(&c->all);
    mem_free(c);
}
