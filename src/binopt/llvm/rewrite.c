/* rewrite.c: the rewriter that lifts a function to LLVM-IR, specialises it there and compiles it: see llvm_unit.h. */
#include <limits.h>
#include <time.h>

#include "binopt/choice/choice.h"
#include "binopt/config/rewriter.h"
#include "binopt/llvm/lift/lift.h"
#include "binopt/llvm/llvm.h"
#include "binopt/llvm/passes/convert.h"
#include "binopt/llvm/passes/fold.h"
#include "binopt/llvm/passes/lanes.h"
#include "binopt/llvm/passes/lower.h"
#include "binopt/llvm/passes/nowrap.h"
#include "binopt/llvm/passes/pointers.h"
#include "binopt/llvm/passes/spread.h"
#include "binopt/llvm/passes/unpack.h"
#include "binopt/llvm/passes/unshared.h"
#include "binopt/llvm/pool.h"
#include "binopt/llvm/store/disk.h"
#include "binopt/llvm/store/linked.h"
#include "binopt/llvm/store/store.h"
#include "binopt/process/fork.h"
#include "binopt/trace/trace.h"
#include "codegen/flatten.h"
#include "codegen/gate.h"
#include "codegen/loops.h"
#include "codegen/pipeline.h"
#include "isa/x86_64/x86_64.h"
#include "lift/wrap.h"

/* Each round may find a function that was called through a pointer. If that goes on for ever, it is recursion. */
enum { MAX_ROUNDS = 16, MAX_FULL_ROUNDS = 3, MAX_WAITING = 3, MAX_GROWTH = 24000 };

enum { MAX_PARAMS = 48, MAX_REGISTERS = 14 }; /* declared parameters; registers for parameters */
enum { MAX_STACK_BYTES = 1 << 24 };           /* whatever the configuration allows */

/* ------------------------------------------------------------------------------------------------------------ signatures */

/* Integers are passed as whole registers, with whatever the caller has in the upper bits: the function's real parameter
 * may be wider than the declared type. */
static char letter_of(BinoptType type) {
    switch (type) {
    case BINOPT_TY_VOID:
        return '?';
    case BINOPT_TY_INT8:
    case BINOPT_TY_INT16:
    case BINOPT_TY_INT32:
    case BINOPT_TY_UINT8:
    case BINOPT_TY_UINT16:
    case BINOPT_TY_UINT32:
    case BINOPT_TY_INT64:
    case BINOPT_TY_UINT64:
        return 'l';
    case BINOPT_TY_FLOAT:
        return 'f';
    case BINOPT_TY_DOUBLE:
        return 'd';
    case BINOPT_TY_PTR:
    case BINOPT_TY_PTR_NOALIAS:
        return 'p';
    }
    return '?';
}

/* The remaining registers follow the declared parameters, because the function may have more parameters than were
 * declared. */
static void add_parameters(const LlvmUnit *u, char *sig) {
    const CallAbi *abi = &u->isa->abi;
    u32 ints = 0, floats = 0;
    for (size_t i = 0; i < u->cfg->params.len; i++) {
        BinoptType type = u->cfg->params.at[i].type;
        config_type_is_float(type) ? floats++ : ints++;
        *sig++ = letter_of(type);
    }
    for (; ints < abi->int_arg_count; ints++)
        *sig++ = 'l';
    for (; floats < abi->float_arg_count; floats++)
        *sig++ = 'd';
}

/* The second register of a kind is returned only after the first. */
static u32 list_results(const LlvmUnit *u, WrapResult *results) {
    static const WrapResult all[] = {{RAX, I64}, {RDX, I64}, {XMM0, F64}, {XMM0 + 1, F64}};
    u32 wanted = u->results, count = 0;
    wanted |= wanted & RESULT_RDX ? RESULT_RAX : 0;
    wanted |= wanted & RESULT_XMM1 ? RESULT_XMM0 : 0;
    for (u32 i = 0; i < ARRAY_LEN(all); i++)
        if (wanted >> i & 1)
            results[count++] = all[i];
    if (wanted & RESULT_SINGLE && count == 1)
        results[0].type = F32;
    return count;
}

static Val wrap(LlvmUnit *u, Val entry, u64 stack_bytes) {
    char sig[128] = "v";
    WrapResult results[WRAP_MAX_RESULTS];
    if (u->cfg->params.len > MAX_PARAMS)
        return NULL;
    add_parameters(u, sig + 1);
    return wrap_with_results(entry, LATHE_ARCH_X86_64, "wrapped", sig, stack_bytes, results, list_results(u, results));
}

/* A pointer, floating-point value or number as an integer, for comparing. */
static Val bits_of(LlvmUnit *u, Val v) {
    Ty t = ir_ty(v);
    return t == PTR ? v : ir_bitcast(&u->l, v, ty_int(ty_bits(t)));
}

static void build_return(Lifter *l, Val result) {
    if (LLVMGetTypeKind(LLVMTypeOf(result)) == LLVMVoidTypeKind)
        LLVMBuildRetVoid(l->b);
    else
        LLVMBuildRet(l->b, result);
}

/* Calls with other values than the fixed ones go to the original. */
static void build_guard(LlvmUnit *u, Val *args) {
    Lifter *l = &u->l;
    Val differs = ir_int(l, I1, 0);
    for (u32 i = 0; i < u->cfg->params.len; i++) {
        const Param *p = &u->cfg->params.at[i];
        if (!p->fixed)
            continue;
        Val given = bits_of(u, args[i]), fixed = bits_of(u, fold_parameter(u, p, ir_ty(args[i])));
        u32 bits = 8 * config_type_bytes(p->type);
        Ty t = ty_int(bits);
        if (ir_ty(given) != PTR && bits < ty_bits(ir_ty(given))) {
            given = ir_trunc(l, given, t);
            fixed = ir_trunc(l, fixed, t);
        }
        differs = LLVMBuildOr(l->b, differs, ir_icmp(l, NE, given, fixed), "");
    }
    Label original = ir_label(l, "original"), go_on = ir_label(l, "special");
    ir_branch_rare(l, differs, original, go_on);
    ir_here(l, original);
    Val address = LLVMConstIntToPtr(ir_int(l, I64, u->cfg->function), ir_type(l, PTR));
    Val call = LLVMBuildCall2(l->b, LLVMGlobalGetValueType(l->fn), address, args, LLVMCountParams(l->fn), "");
    LLVMSetTailCallKind(call, LLVMTailCallKindMustTail);
    build_return(l, call);
    ir_here(l, go_on);
}

static void build_spec(LlvmUnit *u, Val wrapped, const char *name) {
    Lifter *l = &u->l;
    u32 count = LLVMCountParams(wrapped);
    Val args[MAX_PARAMS + MAX_REGISTERS];
    u->spec = l->fn = LLVMAddFunction(u->mod, name, LLVMGlobalGetValueType(wrapped));
    ir_here(l, ir_label(l, "entry"));
    for (u32 i = 0; i < count; i++)
        args[i] = LLVMGetParam(u->spec, i);
    if (u->cfg->guard)
        build_guard(u, args);
    for (u32 i = 0; i < u->cfg->params.len; i++)
        if (u->cfg->params.at[i].fixed)
            args[i] = fold_parameter(u, &u->cfg->params.at[i], ir_ty(args[i]));
    build_return(l, ir_call(l, wrapped, args, count));
    ir_attribute(l, u->spec, OF_FUNCTION, "nounwind", 0);
    ir_attribute(l, wrapped, OF_FUNCTION, "alwaysinline", 0);
    LLVMSetLinkage(wrapped, LLVMInternalLinkage);
}

/* Only possible when it is known which addresses are based on which parameter: see pointers.h. */
static void promise_noalias(LlvmUnit *u) {
    for (u32 i = 0; i < u->cfg->params.len; i++)
        if (u->cfg->params.at[i].type == BINOPT_TY_PTR_NOALIAS)
            ir_attribute(&u->l, u->spec, 1 + i, "noalias", 0);
}

/* -------------------------------------------------------------------------------------------------------------- the work */

static const char ending[] = "the process is ending";

static void allow_fast_math(LlvmUnit *u) {
    for (Label b = LLVMGetFirstBasicBlock(u->spec); b; b = LLVMGetNextBasicBlock(b))
        for (Val in = LLVMGetFirstInstruction(b); in; in = LLVMGetNextInstruction(in))
            if (LLVMCanValueUseFastMathFlags(in))
                LLVMSetFastMathFlags(in, LLVMFastMathAll);
}

static double now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* Logs how long each stage took. */
static void log_stage(LlvmUnit *u, const char *stage) {
    double now = now_ms();
    config_log(u->cfg, 2, "%-10s %7.3f ms", stage, now - u->stage_start);
    u->stage_start = now;
}

/* LLVM cannot be interrupted; if it takes too long, the specialisation is given up between two stages. */
static bool is_late(const LlvmUnit *u) {
    return now_ms() - u->start > (double)u->cfg->limit_ms;
}

/* level: one of pipeline.h. */
static bool optimize(LlvmUnit *u, int level, const char *stage) {
    if (is_late(u))
        u->hopeless = "LLVM takes too long for it";
    else if (lathe_jit_optimize(u->jit, u->mod, (LatheOpt)level) != LATHE_OK)
        u->hopeless = "LLVM could not optimise it";
    if (gate_is_wanted() && gate_is_closed())
        u->hopeless = ending;
    lift_forget(u);
    if (u->cfg->fast_math)
        allow_fast_math(u);
    if (u->cfg->nowrap)
        nowrap_mark(u);
    log_stage(u, stage);
    return !u->hopeless;
}

/* Uses what optimisation has made known. Returns false if there is nothing new. */
static bool discover(LlvmUnit *u) {
    bool changed = pointers_find(u);
    changed |= fold_run(u);
    changed |= lift_known_callouts(u);
    changed |= unshared_mark(u);
    changed |= lanes_narrow(u);
    if (!changed && !u->vectorized)
        changed = spread_lanes(u);
    return changed && !u->hopeless;
}

static bool folds(void *user, Val base, i64 offset) {
    return fold_can_load(user, base, offset);
}

/* Loops over tables of constants are unrolled even if they are long. Loads of these constants are folded before
 * anything else is done with the many copies. */
static bool unroll(LlvmUnit *u, unsigned *loops) {
    LoopsFound found = loops_mark(u->spec, &u->may_grow, folds, u);
    bool fewer = found.count < *loops;
    *loops = found.count;
    if (found.count)
        optimize(u, OPT_UNROLL, "unroll");
    return (found.count && fold_run(u)) || found.marked || fewer;
}

static void dump(LlvmUnit *u, const char *stage) {
    if (!config_wants_code(u->cfg))
        return;
    char *text = LLVMPrintModuleToString(u->mod);
    config_show_code(u->cfg, stage, text);
    LLVMDisposeMessage(text);
}

/* Returns the number of loops that are left. */
static unsigned simplify(LlvmUnit *u) {
    unsigned loops = UINT_MAX;
    bool changed = true;
    for (int i = 0; i < MAX_ROUNDS && changed && optimize(u, OPT_SCALAR, "simplify"); i++) {
        changed = discover(u);
        changed |= !u->vectorized && flatten_loops(u->spec, i < MAX_WAITING);
        changed |= unroll(u, &loops);
        changed = changed || (!u->vectorized && lift_likely_callouts(u));
    }
    return loops;
}

/* Replaces operations that the vectoriser does not understand by forms that it accepts. Unrolling came last and has
 * left unused values that hold vectors together, so these are removed first. */
static void loosen(LlvmUnit *u) {
    optimize(u, OPT_SCALAR, "simplify");
    bool changed = convert_expand(u);
    changed |= unpack_vectors(u);
    if (changed)
        simplify(u);
}

static bool build(LlvmUnit *u, const char *name) {
    u64 allowed = u->cfg->stack_bytes < MAX_STACK_BYTES ? u->cfg->stack_bytes : MAX_STACK_BYTES;
    u64 stack_bytes = u->made_bytes = (allowed + 15) & ~(u64)15;
    Val entry = lift_function(u, u->cfg->function), wrapped = entry ? wrap(u, entry, stack_bytes) : NULL;
    if (!wrapped) {
        u->hopeless = entry ? "its type has more than 48 parameters, or one that is no BinoptType" : u->why;
        return false;
    }
    build_spec(u, wrapped, name);
    log_stage(u, "lift");
    dump(u, "lifted");
    unsigned loops = simplify(u);
    if (u->stack_bytes > stack_bytes)
        u->hopeless = arena_printf(&u->arena, "it needs up to %llu bytes of stack, and BINOPT_F_STACKSZ allows %llu",
                                   (unsigned long long)u->stack_bytes, (unsigned long long)stack_bytes);
    if (u->hopeless)
        return false;
    lower_fit_stack(u);
    if (loops)
        loosen(u);
    promise_noalias(u);
    u->vectorized = true;
    for (int i = 0; i < MAX_FULL_ROUNDS && optimize(u, OPT_VECTOR, "optimise") && discover(u); i++)
        simplify(u);
    return !u->hopeless;
}

/* Removes declarations that are not used. */
static void drop_unused(LlvmUnit *u) {
    for (Val fn = LLVMGetFirstFunction(u->mod), next; fn; fn = next) {
        next = LLVMGetNextFunction(fn);
        if (fn != u->spec && !LLVMGetFirstUse(fn))
            LLVMDeleteFunction(fn);
    }
}

/* Returns the object, to be freed by mem_free, or NULL if it could not be made. */
static void *compile(LlvmUnit *u, size_t *size) {
    void *object = NULL;
    convert_restore(u);
    fold_finish(u);
    lower_callouts(u);
    if (!u->hopeless && is_late(u))
        u->hopeless = "LLVM takes too long for it";
    if (u->hopeless)
        return NULL;
    drop_unused(u);
    dump(u, "to be compiled");
    log_stage(u, "lower");
    LatheStatus status = lathe_jit_emit(u->jit, u->mod, LATHE_OPT_NONE, false, &object, size);
    log_stage(u, "compile");
    if (status != LATHE_OK)
        u->hopeless = lathe_status_text(status);
    return object;
}

static void unit_init(LlvmUnit *u, LatheJit *jit, const BinoptCfg *cfg) {
    *u = (LlvmUnit){.cfg = cfg, .jit = jit, .isa = isa_find(LATHE_ARCH_X86_64), .may_grow = MAX_GROWTH};
    maps_init(&u->maps);
    u->ctx = LLVMContextCreate();
    u->mod = LLVMModuleCreateWithNameInContext("binopt", u->ctx);
    ir_begin(&u->l, u->mod);
}

static void unit_free(LlvmUnit *u) {
    ir_end(&u->l);
    LLVMDisposeModule(u->mod);
    LLVMContextDispose(u->ctx);
    maps_free(&u->maps);
    map64_free(&u->lifted);
    map64_free(&u->astray);
    map64_free(&u->returns);
    map64_free(&u->stack_arguments);
    VEC_FREE(&u->functions);
    VEC_FREE(&u->lifting);
    depends_free(&u->depends);
    arena_free(&u->arena);
}

static const char name[] = "spec";

typedef struct Llvm {
    Linked linked;
    void *trace; /* state of rewriter_trace, for functions that *trace* does better */
    Choices choices;
} Llvm;

/* Stores the result for other handles, and for other runs. */
static void keep(Llvm *r, LlvmUnit *u, BinoptFunc code, const void *object, size_t size) {
    linked_identify(&r->linked, code, store_add(u->cfg, &u->depends, name, object, size));
    disk_keep(u->cfg, &u->depends, object, size);
    config_log(u->cfg, 2, "specialised: %zu instructions lifted, at %p", u->insns, code);
}

static BinoptFunc make(Llvm *r, const BinoptCfg *cfg, LatheJit *compiler) {
    LlvmUnit u;
    unit_init(&u, compiler, cfg);
    u.start = u.stage_start = now_ms();
    size_t size;
    void *object = build(&u, name) ? compile(&u, &size) : NULL;
    BinoptFunc code = object ? linked_add(&r->linked, cfg->function, 0, name, object, size) : NULL;
    if (code)
        keep(r, &u, code, object, size);
    else
        config_refuse(cfg, "%s", u.hopeless ? u.hopeless : "there is no memory for its code");
    mem_free(object);
    unit_free(&u);
    return code;
}

/* Returns what this or another handle has made before. */
static BinoptFunc recall(Llvm *r, const BinoptCfg *cfg, const Stored *found) {
    BinoptFunc code = linked_find(&r->linked, found->id);
    if (!code)
        code = linked_add(&r->linked, cfg->function, found->id, found->name, found->object, found->size);
    config_log(cfg, 2, "specialised before, at %p", code);
    return code;
}

/* Returns what an earlier run has made. */
static BinoptFunc recall_from_disk(Linked *linked, const BinoptCfg *cfg) {
    Depends depends = {0};
    size_t size;
    void *object = disk_find(cfg, &size, &depends);
    BinoptFunc code = NULL;
    if (object)
        code = linked_add(linked, cfg->function, store_add(cfg, &depends, name, object, size), name, object, size);
    if (code)
        config_log(cfg, 2, "specialised by an earlier run, at %p", code);
    depends_free(&depends);
    mem_free(object);
    return code;
}

/* All work with LLVM is done here. */
static BinoptFunc make_if_allowed(Llvm *r, const BinoptCfg *cfg) {
    if (!gate_enter()) {
        config_refuse(cfg, "%s", ending);
        return NULL;
    }
    LatheJit *compiler = pool_take();
    BinoptFunc code = compiler ? make(r, cfg, compiler) : NULL;
    if (compiler)
        pool_give(compiler);
    else
        config_refuse(cfg, "there is no memory for code, or LLVM has no code generator for this machine");
    gate_leave();
    return code;
}

static BinoptFunc find_or_make(Llvm *r, const BinoptCfg *cfg) {
    Stored found;
    if (store_find(cfg, &found)) {
        BinoptFunc before = recall(r, cfg, &found);
        mem_free(found.object);
        return before;
    }
    BinoptFunc code = config_wants_code(cfg) ? NULL : recall_from_disk(&r->linked, cfg);
    return code ? code : make_if_allowed(r, cfg);
}

/* Makes what *trace* makes, if something is gained. LLVM makes new code even for parts in which nothing is known, and
 * the compiler that had the source may have done better there; *trace* leaves such parts as they are. *idle: *trace*
 * cannot gain anything. */
static BinoptFunc make_other(Llvm *r, const BinoptCfg *cfg, bool *idle) {
    bool gains = false;
    BinoptFunc code = cfg->always ? NULL : trace_anyway(r->trace, cfg, &gains);
    *idle = code && !gains;
    if (*idle)
        rewriter_trace.release(r->trace, code);
    return *idle ? NULL : code;
}

static size_t bytes_of_version(Llvm *r, BinoptFunc version) {
    size_t bytes = linked_bytes(&r->linked, version);
    return bytes ? bytes : rewriter_trace.code_bytes(r->trace, version);
}

/* A function may lead to the one that it was made from. Each of the two rewriters keeps its own functions for that; if
 * the other one has made the base, it has to be told. */
static void keep_base(Llvm *r, const BinoptCfg *cfg, BinoptFunc code, BinoptFunc other) {
    if (code)
        trace_keep(r->trace, (BinoptFunc)cfg->function);
    if (other)
        linked_keep(&r->linked, (BinoptFunc)cfg->function);
}

u32 llvm_versions(void *self, const BinoptCfg *cfg, BinoptFunc *versions) {
    Llvm *r = self;
    bool idle;
    BinoptFunc code = find_or_make(r, cfg), other = make_other(r, cfg, &idle);
    if (code && idle && choice_is_trifle(code, bytes_of_version(r, code))) {
        linked_release(&r->linked, code);
        config_refuse(cfg, "nothing is gained: what is known makes it no shorter");
        return 0;
    }
    keep_base(r, cfg, code, other);
    u32 count = 0;
    if (code)
        versions[count++] = code;
    if (other)
        versions[count++] = other;
    if (!code && other) {
        config_log(cfg, 2, "made by trace: %s", cfg->reason);
        *cfg->reason = 0;
    }
    return count;
}

static void release_version(void *self, BinoptFunc version) {
    Llvm *r = self;
    linked_release(&r->linked, version);
    rewriter_trace.release(r->trace, version);
}

static BinoptFunc specialize(void *self, const BinoptCfg *cfg) {
    Llvm *r = self;
    BinoptFunc versions[CHOICE_MOST];
    BinoptCfg on_base = *cfg;
    on_base.function = choice_base(&r->choices, cfg->function);
    u32 count = llvm_versions(self, &on_base, versions);
    if (!count)
        return NULL;
    return choice_offer(&r->choices, trace_places(r->trace), &on_base, versions, count,
                        bytes_of_version(r, versions[0]));
}

static void *open_llvm(void) {
    Llvm *r = mem_new(sizeof(*r));
    gate_prepare();
    fork_call(gate_before_fork, gate_after_fork);
    r->trace = rewriter_trace.open();
    r->choices = (Choices){.self = r, .release = release_version};
    return r;
}

static void close_llvm(void *self) {
    Llvm *r = self;
    choice_free_all(&r->choices);
    linked_free(&r->linked);
    rewriter_trace.close(r->trace);
    mem_free(r);
}

static void release(void *self, BinoptFunc made) {
    choice_release(&((Llvm *)self)->choices, made);
}

static void reason(void *self, BinoptFunc made, char *text, size_t size) {
    choice_reason(&((Llvm *)self)->choices, made, text, size);
}

static size_t code_bytes(void *self, BinoptFunc made) {
    Llvm *r = self;
    return bytes_of_version(r, choice_version(&r->choices, made));
}

const Rewriter rewriter_llvm = {
    .name = "llvm",
    .driver = "llvm",
    .open = open_llvm,
    .close = close_llvm,
    .specialize = specialize,
    .release = release,
    .reason = reason,
    .code_bytes = code_bytes,
};
