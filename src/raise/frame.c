/* frame.c: locals of the program that nobody else can see become variables of LLVM's.
 *
 * A function's frame is the memory below the stack pointer that it is entered with. Here its offsets are counted from that: locals are
 * below 0, the return address is at 0, arguments on the stack behind it. A place of the frame is private if
 *
 *     all accesses to it are loads and stores whose address is the stack pointer and a constant,
 *     no address of a local is used in any other way (stored, passed, compared, indexed), and
 *     no callee looks at it as its argument.
 *
 * The first two are found by following the stack pointer through the function. For the third, each function's reach is computed: how far
 * above its own frame it, and what it calls, loads and stores. A function that takes the address of such a place has no bound.
 *
 * What is counted on, as docs/raise.md says: code that was not given an address of the frame does not look at it, and native code finds
 * arguments on the stack only where may_pass_on_stack() (signature.c) says so.
 *
 * Private places are zero in the beginning, since a program may look at what it has never written. A function that calls setjmp()
 * keeps its frame: variables of LLVM's would lose what was written to them since. */
#include <llvm-c/Core.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <stdlib.h>

#include "raise/raise.h"

/* A reach of REACH_MAX bytes or more counts as unbounded, so that functions which call each other in a circle, each with a higher stack pointer than
 * it was entered with, come to an end. */
enum { REACH_MAX = 65536, NO_BOUND = RAISE_NO_BOUND };

/* A load or store at a constant place of the frame. */
typedef struct Access {
    LLVMValueRef in;
    i64 from, to;
} Access;

/* A call, with the offset of the stack pointer that the callee is entered with. */
typedef struct FrameCall {
    LLVMValueRef in;
    i64 at;
} FrameCall;

typedef struct Frame {
    Raise *r;
    RaiseFunction *f;
    VEC(Access) accesses;
    VEC(FrameCall) calls;
    VEC(LLVMValueRef) values; /* of the stack pointer and constants, to be looked at */
    VEC(i64) offsets;
    Map64 seen;               /* index in `values` by the value */
    VEC(LLVMValueRef) spills; /* stores of such values into the guest state, which a helper has to see */
    bool leaks;               /* an address of a local is used in a way that is not understood */
    i64 own;                  /* the reach of its own accesses */
    i64 above;                /* the same, but for what is not understood of where the stack pointer is */
    i64 reach;                /* and with its callees */
    bool keeps;               /* nothing of it may become a variable */
} Frame;

typedef VEC(Frame) Frames;

/* -------------------------------------------------------------------------------------------- following the stack pointer */

/* Something is done with the address that is not understood. */
static void leak(Frame *f, i64 off) {
    if (off < 0)
        f->leaks = true;
    else
        f->own = NO_BOUND;
    if (off > 0)
        f->above = NO_BOUND;
}

/* Nothing is known of where accesses are. */
static void lose(Frame *f) {
    f->leaks = true;
    f->own = NO_BOUND;
}

static void follow(Frame *f, LLVMValueRef v, i64 off) {
    u32 index;
    if (map64_get(&f->seen, (u64)v, &index)) {
        if (f->offsets.at[index] != off)
            lose(f);
        return;
    }
    map64_set(&f->seen, (u64)v, (u32)f->values.len);
    VEC_PUSH(&f->values, v);
    VEC_PUSH(&f->offsets, off);
}

static u64 bytes_of(LLVMTypeRef type) {
    switch (LLVMGetTypeKind(type)) {
    case LLVMIntegerTypeKind:
        return (LLVMGetIntTypeWidth(type) + 7) / 8;
    case LLVMPointerTypeKind:
    case LLVMDoubleTypeKind:
        return 8;
    case LLVMFloatTypeKind:
        return 4;
    case LLVMVectorTypeKind:
        return bytes_of(LLVMGetElementType(type)) * LLVMGetVectorSize(type);
    default:
        return 0;
    }
}

static void note_access(Frame *f, LLVMValueRef in, LLVMTypeRef type, i64 off) {
    u64 bytes = bytes_of(type);
    if (!bytes || LLVMGetOrdering(in) != LLVMAtomicOrderingNotAtomic) {
        leak(f, off);
        return;
    }
    i64 to = off + (i64)bytes;
    VEC_PUSH(&f->accesses, ((Access){in, off, to}));
    if (to > f->own)
        f->own = to;
    if (to > f->above)
        f->above = to;
}

static bool is_state(const Frame *f, LLVMValueRef p, u64 *off) {
    LLVMValueRef cpu = LLVMGetParam(f->f->raised, LLVMCountParams(f->f->raised) - 1);
    return raise_state_offset(cpu, p, off);
}

static void note_call(Frame *f, LLVMValueRef call, LLVMValueRef v, i64 off) {
    unsigned at = raise_stack_operand(call), count = LLVMGetNumArgOperands(call);
    for (unsigned i = 0; i < count; i++)
        if (i != at && LLVMGetOperand(call, i) == v)
            leak(f, off);
    if (at < count && LLVMGetOperand(call, at) == v)
        VEC_PUSH(&f->calls, ((FrameCall){call, off}));
}

/* A sum with a constant; false: something else. */
static bool constant_step(LLVMValueRef user, LLVMValueRef v, i64 *step) {
    LLVMValueRef other = LLVMGetNumOperands(user) == 2 ? LLVMGetOperand(user, 1) : NULL;
    if (!other || !LLVMIsAConstantInt(other) || LLVMGetOperand(user, 0) != v)
        return false;
    *step = LLVMConstIntGetSExtValue(other);
    if (LLVMIsAGetElementPtrInst(user)) {
        *step *= (i64)bytes_of(LLVMGetGEPSourceElementType(user));
        return bytes_of(LLVMGetGEPSourceElementType(user));
    }
    LLVMOpcode op = LLVMGetInstructionOpcode(user);
    if (op == LLVMSub)
        *step = -*step;
    return op == LLVMAdd || op == LLVMSub;
}

enum { INDEX_BIAS = 64 };

/* An index is added to the address. What counts is the constant that is added last, as compilers have it in the instruction; they may count an
 * index from another number than 0. */
static void look_at_indexed(Frame *f, LLVMValueRef v, i64 off, int depth) {
    for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef user = LLVMGetUser(u);
        i64 step = 0;
        bool same = LLVMIsAPtrToIntInst(user) || LLVMIsAIntToPtrInst(user);
        if (depth && (same || constant_step(user, v, &step)))
            look_at_indexed(f, user, off + step, depth - 1);
        else
            leak(f, off >= -INDEX_BIAS && off < 0 ? 0 : off);
    }
    f->leaks = true;
}

static bool adds_index(LLVMValueRef user, LLVMValueRef v) {
    return LLVMIsAGetElementPtrInst(user) ? LLVMGetOperand(user, 0) == v
                                          : LLVMIsABinaryOperator(user) && LLVMGetInstructionOpcode(user) == LLVMAdd;
}

static void look_at_use(Frame *f, LLVMValueRef user, LLVMValueRef v, i64 off) {
    i64 step;
    if (LLVMIsALoadInst(user)) {
        note_access(f, user, LLVMTypeOf(user), off);
    } else if (LLVMIsAStoreInst(user)) {
        u64 place;
        bool is_spill = !f->r->foreign && is_state(f, LLVMGetOperand(user, 1), &place);
        if (LLVMGetOperand(user, 0) == v && is_spill)
            VEC_PUSH(&f->spills, user);
        else if (LLVMGetOperand(user, 0) == v)
            leak(f, off);
        if (LLVMGetOperand(user, 1) == v)
            note_access(f, user, LLVMTypeOf(LLVMGetOperand(user, 0)), off);
    } else if (LLVMIsACallInst(user) || LLVMIsAInvokeInst(user)) {
        note_call(f, user, v, off);
    } else if (LLVMIsAPtrToIntInst(user) || LLVMIsAIntToPtrInst(user) || LLVMIsAPHINode(user)) {
        follow(f, user, off);
    } else if (constant_step(user, v, &step)) {
        follow(f, user, off + step);
    } else if (adds_index(user, v)) {
        look_at_indexed(f, user, off, 4);
    } else {
        leak(f, off);
    }
}

/* What comes together in a phi must be the same place on all ways. */
static void check_phis(Frame *f) {
    u32 index;
    for (size_t i = 0; i < f->values.len; i++)
        for (unsigned k = 0; LLVMIsAPHINode(f->values.at[i]) && k < LLVMCountIncoming(f->values.at[i]); k++)
            if (!map64_get(&f->seen, (u64)LLVMGetIncomingValue(f->values.at[i], k), &index) ||
                f->offsets.at[index] != f->offsets.at[i])
                lose(f);
}

/* Does the load read a register from the guest state that has an address of the frame there? */
static bool is_spilled(const Frame *f, LLVMValueRef load) {
    u64 place, own;
    if (!is_state(f, LLVMGetOperand(load, 0), &own))
        return false;
    for (size_t i = 0; i < f->spills.len; i++)
        if (is_state(f, LLVMGetOperand(f->spills.at[i], 1), &place) && place == own)
            return true;
    return false;
}

/* Behind a helper that sees the whole state, registers are loaded from there again: a frame pointer is one more address of the frame then. */
static void look_at_spills(Frame *f) {
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f->f->raised); b && f->spills.len; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef in = LLVMGetFirstInstruction(b); in; in = LLVMGetNextInstruction(in))
            if (LLVMIsALoadInst(in) && is_spilled(f, in))
                f->leaks = true;
}

static void look_at(Frame *f) {
    follow(f, LLVMGetParam(f->f->raised, 0), 0);
    for (size_t i = 0; i < f->values.len; i++)
        for (LLVMUseRef u = LLVMGetFirstUse(f->values.at[i]); u; u = LLVMGetNextUse(u))
            look_at_use(f, LLVMGetUser(u), f->values.at[i], f->offsets.at[i]);
    check_phis(f);
    look_at_spills(f);
    if (f->f->calls_system || f->f->goes_on || f->f->left)
        lose(f);
    for (size_t i = 0; i < f->calls.len; i++)
        f->keeps |= LLVMGetCallSiteEnumAttribute(
                        f->calls.at[i].in, LLVMAttributeFunctionIndex,
                        LLVMGetEnumAttributeKindForName("returns_twice", strlen("returns_twice"))) != NULL;
}

/* -------------------------------------------------------------------------------------------------------------- reach */

typedef struct Reaches {
    Frames *frames;
    Map64 by_value; /* index of a frame by the raised function */
    i64 computed;   /* of functions that may be called by an address */
} Reaches;

/* Is it a function of the runtime that calls native code? */
static bool is_way_out(LLVMValueRef callee) {
    size_t size;
    return LLVMIsAFunction(callee) && !strncmp(LLVMGetValueName2(callee, &size), RAISE_OUT, strlen(RAISE_OUT));
}

/* How far a call looks above the stack pointer that the callee is entered with. */
static i64 reach_of_call(const Reaches *all, const FrameCall *c) {
    LLVMValueRef callee = LLVMGetCalledValue(c->in);
    u32 index;
    if (raise_may_pass_on_stack(c->in))
        return NO_BOUND;
    if (!map64_get(&all->by_value, (u64)callee, &index))
        return LLVMIsAInlineAsm(callee) || is_way_out(callee) ? 0 : all->computed;
    const Frame *g = &all->frames->at[index];
    return g->f->import && !g->r->foreign ? 0 : g->reach;
}

static bool find_reach(Reaches *all, Frame *f) {
    i64 reach = f->own;
    for (size_t i = 0; i < f->calls.len; i++) {
        i64 callee = reach_of_call(all, &f->calls.at[i]), to = f->calls.at[i].at + callee;
        if (callee == NO_BOUND)
            to = NO_BOUND;
        if (callee > 0 && to > reach)
            reach = to;
    }
    /* What has no bound may look at its caller's frame, even if what was passed to it lies in its own. */
    if (reach >= REACH_MAX)
        reach = NO_BOUND;
    bool changed = reach != f->reach;
    f->reach = reach;
    return changed;
}

static void find_reaches(Reaches *all) {
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < all->frames->len; i++) {
            Frame *f = &all->frames->at[i];
            changed |= find_reach(all, f);
            if ((f->f->native || f->f->by_address) && f->reach > all->computed) {
                all->computed = f->reach;
                changed = true;
            }
        }
    }
}

/* ----------------------------------------------------------------------------------------------------- private places */

typedef struct Place {
    i64 from, to;
    bool seen_by_others;
    LLVMValueRef var;
} Place;

typedef VEC(Place) Places;

static int by_offset(const void *x, const void *y) {
    const Access *a = x, *b = y;
    return a->from < b->from ? -1 : a->from > b->from;
}

static bool is_seen(const Reaches *all, const Frame *f, const Place *p) {
    if (p->to > 0)
        return true;
    for (size_t i = 0; i < f->calls.len; i++) {
        i64 at = f->calls.at[i].at, reach = reach_of_call(all, &f->calls.at[i]);
        if (reach > 0 && p->to > at && p->from < at + reach)
            return true;
    }
    return false;
}

/* Accesses that overlap are of one place. */
static void find_places(const Reaches *all, Frame *f, Places *places) {
    qsort(f->accesses.at, f->accesses.len, sizeof(Access), by_offset);
    for (size_t i = 0; i < f->accesses.len; i++) {
        const Access *a = &f->accesses.at[i];
        Place *last = places->len ? &places->at[places->len - 1] : NULL;
        if (!last || a->from >= last->to)
            VEC_PUSH(places, ((Place){.from = a->from, .to = a->to}));
        else if (a->to > last->to)
            last->to = a->to;
    }
    for (size_t i = 0; i < places->len; i++)
        places->at[i].seen_by_others = is_seen(all, f, &places->at[i]);
}

static void make_variable(const Frame *f, LLVMBuilderRef b, Place *p) {
    LLVMTypeRef byte = LLVMInt8TypeInContext(f->r->ctx);
    p->var = LLVMBuildAlloca(b, LLVMArrayType2(byte, (u64)(p->to - p->from)), "");
    LLVMSetAlignment(p->var, 16);
    LLVMBuildMemSet(b, p->var, LLVMConstNull(byte),
                    LLVMConstInt(LLVMInt64TypeInContext(f->r->ctx), (u64)(p->to - p->from), false), 16);
}

/* Nobody else writes to it, so that loops cannot wait for it. */
static void redirect(const Frame *f, LLVMBuilderRef b, const Access *a, const Place *p) {
    LLVMValueRef off = LLVMConstInt(LLVMInt64TypeInContext(f->r->ctx), (u64)(a->from - p->from), false);
    LLVMPositionBuilderBefore(b, a->in);
    LLVMValueRef place = LLVMBuildGEP2(b, LLVMInt8TypeInContext(f->r->ctx), p->var, &off, 1, "");
    LLVMSetOperand(a->in, LLVMIsAStoreInst(a->in) ? 1 : 0, place);
    LLVMSetVolatile(a->in, false);
    LLVMSetAlignment(a->in, 1); /* the variable may begin elsewhere than where the access was aligned to */
}

static void make_private(const Reaches *all, Frame *f) {
    Places places = {0};
    if (f->leaks || f->keeps)
        return;
    find_places(all, f, &places);
    LLVMBuilderRef b = LLVMCreateBuilderInContext(f->r->ctx);
    size_t at = 0;
    for (size_t i = 0; i < places.len; i++) {
        Place *p = &places.at[i];
        if (p->seen_by_others)
            continue;
        LLVMPositionBuilderBefore(b, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(f->f->raised)));
        make_variable(f, b, p);
        f->r->counts.locals++;
        for (; at < f->accesses.len && f->accesses.at[at].from < p->to; at++)
            if (f->accesses.at[at].from >= p->from)
                redirect(f, b, &f->accesses.at[at], p);
    }
    LLVMDisposeBuilder(b);
    VEC_FREE(&places);
}

/* ------------------------------------------------------------------------------------------------------------- public */

void raise_run_passes(Raise *r, const char *passes) {
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef error = LLVMRunPasses(r->mod, passes, NULL, options);
    CHECK(!error, "LLVM knows these passes");
    LLVMDisposePassBuilderOptions(options);
}

void raise_frames(Raise *r) {
    Frames frames = {0};
    Reaches all = {.frames = &frames};
    /* Registers must be values already, and sums of constants one constant. */
    raise_run_passes(r, "function(sroa,early-cse,instcombine<no-verify-fixpoint>,simplifycfg,early-cse)");
    for (size_t i = 0; i < r->functions.len; i++)
        if (r->functions.at[i].raised) {
            map64_set(&all.by_value, (u64)r->functions.at[i].raised, (u32)frames.len);
            VEC_PUSH(&frames, ((Frame){.r = r, .f = &r->functions.at[i]}));
        }
    for (size_t i = 0; i < frames.len; i++) {
        look_at(&frames.at[i]);
        frames.at[i].f->above = frames.at[i].above;
    }
    find_reaches(&all);
    for (size_t i = 0; i < frames.len; i++) {
        make_private(&all, &frames.at[i]);
        VEC_FREE(&frames.at[i].accesses);
        VEC_FREE(&frames.at[i].calls);
        VEC_FREE(&frames.at[i].values);
        VEC_FREE(&frames.at[i].offsets);
        VEC_FREE(&frames.at[i].spills);
        map64_free(&frames.at[i].seen);
    }
    map64_free(&all.by_value);
    VEC_FREE(&frames);
    raise_run_passes(r, "function(dce)"); /* then it shows who has no frame any more */
}
