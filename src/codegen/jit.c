/* jit.c: LatheJit, from a module to running code: verify, run passes, emit an object, link it into code memory.
 *
 * Code generation has two levels: fast (FastISel) for a module that no pass pipeline has seen, optimising for all
 * others. A pipeline therefore leaves a mark in the module, so that lathe_jit_optimize followed by lathe_jit_add with
 * LATHE_OPT_NONE gives optimised code. */
#include <lathe/lift.h>

#include "codegen/load.h"
#include "codegen/pipeline.h"
#include "codegen/shim.h"
#include "codegen/symbols.h"
#include "codegen/target.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>
#include <llvm-c/Target.h>

#include <stdlib.h>

#define OPTIMIZED_MARK "lathe.optimized"

/* A target machine and what is kept alive for it; made when first needed. */
typedef struct Compiler {
    LLVMTargetMachineRef machine;
    ShimEmitter *emitter;
} Compiler;

struct LatheJit {
    LatheJitConfig cfg; /* `symbol` and `user`; the names are in `target` */
    Target target;
    Compiler fast, optimizing;
    ShimPasses *passes[OPT_LEVELS];
    CodeMem memory;
    SymbolTable symbols;
    LatheStep *step; /* NULL: nobody watches */
    void *step_user;
};

/* ---------------------------------------------------------------------------------------------- LLVM's diagnostics */

/* Left alone, LLVM prints an error in a module (bad inline assembly, for example) and ends the process. */
typedef struct ErrorWatch {
    LLVMContextRef context;
    LLVMDiagnosticHandler handler; /* of the owner of the context */
    void *user;
    bool failed;
} ErrorWatch;

static void note_error(LLVMDiagnosticInfoRef info, void *watch) {
    if (LLVMGetDiagInfoSeverity(info) == LLVMDSError)
        ((ErrorWatch *)watch)->failed = true;
}

static void watch_errors(ErrorWatch *w, LLVMModuleRef mod) {
    LLVMContextRef c = LLVMGetModuleContext(mod);
    *w = (ErrorWatch){c, LLVMContextGetDiagnosticHandler(c), LLVMContextGetDiagnosticContext(c), false};
    LLVMContextSetDiagnosticHandler(c, note_error, w);
}

static bool errors_seen(ErrorWatch *w) {
    LLVMContextSetDiagnosticHandler(w->context, w->handler, w->user);
    return w->failed;
}

/* ------------------------------------------------------------------------------------------------ passes, emission */

static void start_compiler(LatheJit *jit, Compiler *c) {
    if (!c->machine)
        c->machine = target_machine_new(&jit->target, c == &jit->fast ? LLVMCodeGenLevelNone : LLVMCodeGenLevelDefault);
}

static void stop_compiler(Compiler *c) {
    shim_emitter_free(c->emitter);
    if (c->machine)
        LLVMDisposeTargetMachine(c->machine);
}

static Compiler *compiler_for(LatheJit *jit, LLVMModuleRef mod) {
    bool optimized = LLVMGetNamedMetadata(mod, OPTIMIZED_MARK, strlen(OPTIMIZED_MARK));
    Compiler *c = optimized ? &jit->optimizing : &jit->fast;
    start_compiler(jit, c);
    return c;
}

static bool valid(LLVMModuleRef mod) {
    char *text = NULL;
    bool broken = LLVMVerifyModule(mod, LLVMReturnStatusAction, &text);
    LLVMDisposeMessage(text);
    return !broken;
}

static void set_target(LatheJit *jit, LLVMModuleRef mod) {
    start_compiler(jit, &jit->optimizing);
    char *triple = LLVMGetTargetMachineTriple(jit->optimizing.machine);
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(jit->optimizing.machine);
    LLVMSetTarget(mod, triple);
    LLVMSetModuleDataLayout(mod, layout);
    LLVMDisposeTargetData(layout);
    LLVMDisposeMessage(triple);
}

static bool run_passes(LatheJit *jit, LLVMModuleRef mod, LatheOpt level, const Pipeline *pipeline) {
    ShimPasses **passes = &jit->passes[level];
    if (!*passes)
        *passes = shim_passes_new(jit->optimizing.machine, pipeline);
    CHECK(*passes, "LLVM does not understand a pass pipeline of ours");
    ErrorWatch watch;
    watch_errors(&watch, mod);
    shim_passes_watch(*passes, jit->step, jit->step_user);
    shim_passes_run(*passes, mod);
    LLVMGetOrInsertNamedMetadata(mod, OPTIMIZED_MARK, strlen(OPTIMIZED_MARK));
    return !errors_seen(&watch);
}

/* The object lives until the next emission; NULL if LLVM reported an error. */
static const void *emit_object(LatheJit *jit, LLVMModuleRef mod, size_t *size) {
    Compiler *c = compiler_for(jit, mod);
    if (!c->emitter)
        c->emitter = shim_emitter_new(c->machine);
    CHECK(c->emitter, "LLVM emits no object files for the host");
    ErrorWatch watch;
    watch_errors(&watch, mod);
    const void *object = shim_emitter_run(c->emitter, mod, size);
    if (!errors_seen(&watch))
        return object;
    shim_emitter_free(c->emitter); /* it may have stopped half-way through a function */
    c->emitter = NULL;
    return NULL;
}

/* Malloc'ed; NULL if LLVM reported an error. */
static void *emit_assembly(LatheJit *jit, LLVMModuleRef mod, size_t *size) {
    Compiler *c = compiler_for(jit, mod);
    LLVMMemoryBufferRef text = NULL;
    char *error = NULL;
    ErrorWatch watch;
    watch_errors(&watch, mod);
    bool failed = LLVMTargetMachineEmitToMemoryBuffer(c->machine, mod, LLVMAssemblyFile, &error, &text);
    failed |= errors_seen(&watch);
    void *copy = NULL;
    if (!failed) {
        *size = LLVMGetBufferSize(text);
        copy = mem_new(*size);
        memcpy(copy, LLVMGetBufferStart(text), *size);
    }
    LLVMDisposeMessage(error);
    if (text)
        LLVMDisposeMemoryBuffer(text);
    return copy;
}

/* --------------------------------------------------------------------------------------------------------- linking */

static bool resolve(void *user, const char *name, u64 *address) {
    LatheJit *jit = user;
    const Symbol *s = symbols_find(&jit->symbols, name);
    void *at = s ? (void *)s->address : NULL;
    if (!at && jit->cfg.symbol)
        at = jit->cfg.symbol(jit->cfg.user, name);
    *address = (u64)at;
    return at || load_resolve(NULL, name, address);
}

static void define(void *user, const char *name, u64 address, u64 size) {
    LatheJit *jit = user;
    symbols_define(&jit->symbols, name, address, size);
}

static LatheStatus link_object(LatheJit *jit, const void *object, size_t size) {
    CodeSpan span;
    u64 unwind;
    return load_object(&jit->memory, object, size, resolve, define, jit, &span, &unwind);
}

static LatheStatus compile(LatheJit *jit, LLVMModuleRef mod, LatheOpt level) {
    LatheStatus status = lathe_jit_optimize(jit, mod, level);
    if (status < 0)
        return status;
    if (jit->target.host != host_own())
        return LATHE_ERR_LINK;
    size_t size;
    const void *object = emit_object(jit, mod, &size);
    return object ? link_object(jit, object, size) : LATHE_ERR_COMPILE;
}

/* ---------------------------------------------------------------------------------------------------------- public */

LatheJit *lathe_jit_new(const LatheJitConfig *cfg) {
    LatheJit *jit = mem_new(sizeof(*jit));
    if (cfg)
        jit->cfg = *cfg;
    if (!codemem_init(&jit->memory)) {
        mem_free(jit);
        return NULL;
    }
    if (!target_init(&jit->target, jit->cfg.host, jit->cfg.cpu, jit->cfg.features, jit->cfg.low_vectors)) {
        codemem_free(&jit->memory);
        mem_free(jit);
        return NULL;
    }
    return jit;
}

void lathe_jit_free(LatheJit *jit) {
    if (!jit)
        return;
    for (size_t i = 0; i < ARRAY_LEN(jit->passes); i++)
        shim_passes_free(jit->passes[i]);
    stop_compiler(&jit->fast);
    stop_compiler(&jit->optimizing);
    target_free(&jit->target);
    codemem_free(&jit->memory);
    symbols_free(&jit->symbols);
    mem_free(jit);
}

LatheStatus lathe_jit_optimize(LatheJit *jit, LLVMModuleRef mod, LatheOpt level) {
    const Pipeline *pipeline = pipeline_of(level);
    if (!pipeline)
        return LATHE_ERR_ARGUMENT;
    set_target(jit, mod);
    if (!valid(mod))
        return LATHE_ERR_COMPILE;
    if (pipeline->passes && !run_passes(jit, mod, level, pipeline))
        return LATHE_ERR_COMPILE;
    return LATHE_OK;
}

void lathe_jit_watch(LatheJit *jit, LatheStep *step, void *user) {
    jit->step = step;
    jit->step_user = user;
}

LatheStatus lathe_jit_add(LatheJit *jit, LLVMModuleRef mod, LatheOpt level) {
    LatheStatus status = compile(jit, mod, level);
    LLVMDisposeModule(mod);
    return status;
}

LatheStatus lathe_jit_add_object(LatheJit *jit, const void *object, size_t size) {
    return link_object(jit, object, size);
}

void *lathe_jit_lookup(LatheJit *jit, const char *name) {
    const Symbol *s = symbols_find(&jit->symbols, name);
    return s ? (void *)s->address : NULL;
}

const void *lathe_jit_code(LatheJit *jit, const char *name, size_t *size) {
    const Symbol *s = symbols_find(&jit->symbols, name);
    *size = s ? s->size : 0;
    return s ? (const void *)s->address : NULL;
}

LatheStatus lathe_jit_emit(LatheJit *jit, LLVMModuleRef mod, LatheOpt level, bool assembly, void **data, size_t *size) {
    *data = NULL;
    *size = 0;
    LatheStatus status = lathe_jit_optimize(jit, mod, level);
    if (status < 0)
        return status;
    LLVMModuleRef scratch = LLVMCloneModule(mod); /* code generation rewrites IR in ways that are nobody's business */
    if (assembly) {
        *data = emit_assembly(jit, scratch, size);
    } else {
        const void *object = emit_object(jit, scratch, size);
        if (object)
            *data = memcpy(mem_new(*size), object, *size);
    }
    LLVMDisposeModule(scratch);
    return *data ? LATHE_OK : LATHE_ERR_COMPILE;
}
