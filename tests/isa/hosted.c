/* hosted.c: see hosted.h. */
#include "hosted.h"

#include <llvm-c/Core.h>
#include <stdio.h>
#include <stdlib.h>

#include "oracle.h"

_Static_assert(RUNNER_MEMORY == STATE_MEMORY && RUNNER_MEMORY_BYTES == STATE_MEMORY_BYTES &&
                   sizeof(GuestCpu) <= RUNNER_CPU_MAX,
               "the runner and the tests agree");

enum { CASES_PER_MODULE = 100 };

struct Hosted {
    const CaseList *list;
    LiftedMode mode;
    LLVMContextRef ctx;
    LatheJit *jit;
    const char **problem;
    Arena arena;
    Program program;
};

/* --------------------------------------------------------------------------------------------------------------- compiling */

/* Takes the module. */
static LatheStatus emit(const Hosted *h, LLVMModuleRef mod, LatheOpt level, const char *name) {
    void *object;
    size_t size;
    LatheStatus status = lathe_jit_emit(h->jit, mod, level, false, &object, &size);
    if (status == LATHE_OK)
        program_save(&h->program, name, object, size);
    free(object);
    LLVMDisposeModule(mod);
    return status;
}

static void compile_some(Hosted *h, size_t first, size_t end) {
    char name[32];
    LLVMModuleRef mod = LLVMModuleCreateWithNameInContext("cases", h->ctx);
    for (size_t i = first; i < end; i++)
        h->problem[i] = lifted_case(h->list, i, h->mode, h->program.tools->host, mod, &h->arena);
    snprintf(name, sizeof(name), "cases%zu.o", first);
    LatheStatus status = emit(h, mod, h->mode == LIFTED_UNOPTIMISED ? LATHE_OPT_NONE : LATHE_OPT_FULL, name);
    for (size_t i = first; i < end && status != LATHE_OK; i++)
        h->problem[i] = lathe_status_text(status);
}

/* The runner finds cases by their number. */
static void compile_table(Hosted *h) {
    LLVMModuleRef mod = LLVMModuleCreateWithNameInContext("table", h->ctx);
    LLVMTypeRef ptr = LLVMPointerTypeInContext(h->ctx, 0),
                type = LLVMFunctionType(LLVMVoidTypeInContext(h->ctx), &ptr, 1, false);
    LLVMValueRef *entries = ARENA_ARRAY(&h->arena, LLVMValueRef, h->list->len);
    for (size_t i = 0; i < h->list->len; i++) {
        char name[32];
        lifted_name(i, name);
        entries[i] = h->problem[i] ? LLVMConstNull(ptr) : LLVMAddFunction(mod, name, type);
    }
    LLVMValueRef table = LLVMAddGlobal(mod, LLVMArrayType2(ptr, h->list->len), "case_entries");
    LLVMSetInitializer(table, LLVMConstArray2(ptr, entries, h->list->len));
    CHECK(emit(h, mod, LATHE_OPT_NONE, "table.o") == LATHE_OK, "LLVM compiles a table");
}

/* ----------------------------------------------------------------------------------------------------------------- running */

bool hosted_run(Hosted *h, size_t index, State *s) {
    RunnerAnswer answer;
    if (!program_ask(&h->program, (u32)index, &s->cpu, sizeof(s->cpu), s->memory, &answer)) {
        s->cpu.trap = TRAP_SIGNAL;
        return false;
    }
    if (answer.signal)
        s->cpu.trap = program_trap(&answer, LATHE_TRAP_MISALIGNED);
    else
        lifted_leave(&h->list->at[index], s);
    return !answer.signal;
}

/* ------------------------------------------------------------------------------------------------------------------ public */

Hosted *hosted_new(const CaseList *list, LiftedMode mode, const HostedTools *tools) {
    Hosted *h = mem_new(sizeof(Hosted));
    *h = (Hosted){.list = list, .mode = mode};
    program_new(&h->program, tools);
    h->ctx = LLVMContextCreate();
    h->jit = lathe_jit_new(&(LatheJitConfig){.host = tools->host});
    CHECK(h->jit, "no compiler for that host");
    h->problem = ARENA_ARRAY(&h->arena, const char *, list->len);
    for (size_t i = 0; i < list->len; i += CASES_PER_MODULE)
        compile_some(h, i, i + CASES_PER_MODULE < list->len ? i + CASES_PER_MODULE : list->len);
    compile_table(h);
    char options[64];
    snprintf(options, sizeof(options), "-Wl,--defsym=%s=%#x", LIFTED_PIC_SYMBOL, STATE_CODE);
    program_link(&h->program, options, "*.o");
    return h;
}

void hosted_free(Hosted *h) {
    program_free(&h->program);
    lathe_jit_free(h->jit);
    LLVMContextDispose(h->ctx);
    arena_free(&h->arena);
    mem_free(h);
}

const char *hosted_problem(const Hosted *h, size_t index) {
    return h->problem[index];
}

static const char *deviation_of(LatheHost host, const char *mnemonic) {
    LatheSupport row;
    for (size_t i = 0; lathe_support(GUEST_ARCH, host, i, &row); i++)
        if (!strcmp(row.mnemonic, mnemonic))
            return row.deviation ? row.deviation : "";
    return "";
}

/* What is exact with strict_fp, or one access at a time, is so in these tests. */
const char *hosted_deviation(const Hosted *h, const Case *c) {
    static const char inexact[] = "without the CPU's own instruction";
    const char *name;
    for (size_t i = 0; (name = guest_mnemonic(c, i)); i++) {
        const char *there = deviation_of(h->program.tools->host, name);
        if (!strncmp(there, inexact, sizeof(inexact) - 1))
            return arena_printf((Arena *)&h->arena, "%s: %s", name, there);
    }
    return NULL;
}
