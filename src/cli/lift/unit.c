/* unit.c: see unit.h. */
#include "cli/lift/unit.h"

#include <gelf.h>
#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>
#include <llvm-c/Support.h>
#include <stdlib.h>
#include <time.h>

#define DISPATCH "lathe_dispatch"
#define LIFTED_PREFIX "lifted_"

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ------------------------------------------------------------------------------------------------- callbacks */

static size_t read_memory(void *user, u64 addr, void *buf, size_t size) {
    Unit *u = user;
    return guest_read(u->plan->guest, addr, buf, size);
}

static LLVMValueRef declare_entry(LLVMModuleRef mod, const char *name) {
    LLVMValueRef f = LLVMGetNamedFunction(mod, name);
    if (f)
        return f;
    LLVMContextRef ctx = LLVMGetModuleContext(mod);
    LLVMTypeRef ptr = LLVMPointerTypeInContext(ctx, 0);
    return LLVMAddFunction(mod, name, LLVMFunctionType(LLVMVoidTypeInContext(ctx), &ptr, 1, false));
}

static LLVMValueRef declare_marker(LLVMModuleRef mod) {
    LLVMContextRef ctx = LLVMGetModuleContext(mod);
    LLVMTypeRef params[] = {LLVMInt64TypeInContext(ctx), LLVMInt32TypeInContext(ctx)};
    return LLVMAddFunction(mod, UNIT_MARKER, LLVMFunctionType(LLVMVoidTypeInContext(ctx), params, 2, false));
}

/* Callees are declared by name, so that the IR of several units can be linked together. */
static LLVMValueRef resolve(void *user, u64 pc) {
    Unit *u = user;
    if (pc == u->addr) {
        u->itself = declare_entry(u->mod, "lathe_itself");
        return u->itself;
    }
    char name[256], full[sizeof(name) + sizeof(LIFTED_PREFIX)];
    snprintf(full, sizeof(full), LIFTED_PREFIX "%s", guest_name(u->plan->guest, pc, name, sizeof(name)));
    return declare_entry(u->mod, full);
}

/* Code that calls functions of other units is only shown, never run, so any address will do. */
static void *undefined_symbol(void *user, const char *name) {
    (void)user;
    bool ours = !strncmp(name, LIFTED_PREFIX, strlen(LIFTED_PREFIX)) || !strcmp(name, DISPATCH) ||
                !strcmp(name, UNIT_MARKER) || !strcmp(name, UNIT_PIC_SYMBOL);
    return ours ? (void *)(uintptr_t)undefined_symbol : NULL;
}

/* ---------------------------------------------------------------------------------------------------- measuring */

static u64 count_ir(LLVMModuleRef mod) {
    u64 count = 0;
    for (LLVMValueRef f = LLVMGetFirstFunction(mod); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
                count++;
    return count;
}

static void measure_guest(Unit *u) {
    Measures *m = &u->measures;
    m->blocks = lathe_func_block_count(u->fn);
    for (size_t i = 0; i < m->blocks; i++) {
        LatheBlock b = lathe_func_block(u->fn, i);
        m->insns += b.insn_count;
        m->bytes += b.end - b.start;
        m->tables += b.jump_table;
    }
}

static u64 code_bytes(void *object, size_t size) {
    u64 bytes = 0;
    Elf *elf = elf_memory(object, size);
    Elf_Scn *section = NULL;
    while ((section = elf_nextscn(elf, section))) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) && header.sh_flags & SHF_EXECINSTR)
            bytes += header.sh_size;
    }
    elf_end(elf);
    return bytes;
}

/* ------------------------------------------------------------------------------------------------------- stages */

void unit_init(Unit *u, const UnitPlan *plan, LLVMContextRef ctx, u64 addr) {
    *u = (Unit){.plan = plan, .addr = addr, .cfg = plan->cfg};
    char name[200];
    guest_name(plan->guest, addr, name, sizeof(name));
    snprintf(u->lifted_name, sizeof(u->lifted_name), LIFTED_PREFIX "%s", name);
    snprintf(u->wrapper_name, sizeof(u->wrapper_name), "sysv_%s", name);
    u->mod = LLVMModuleCreateWithNameInContext(u->lifted_name, ctx);
    u->entry = u->lifted_name;
    u->cfg.arch = plan->guest->arch;
    u->cfg.read_memory = read_memory;
    u->cfg.user = u;
    if (u->cfg.calls == LATHE_CALLS_RETURN) {
        u->cfg.resolve = resolve;
        u->cfg.dispatch = declare_entry(u->mod, DISPATCH);
    }
    if (plan->mark_insns)
        u->cfg.mark_insn = declare_marker(u->mod);
    u->fn = lathe_func_new(u->mod, &u->cfg);
    CHECK(u->fn, "the command only knows architectures that the library has");
}

LatheStatus unit_discover(Unit *u) {
    double start = now();
    LatheStatus status = LATHE_OK;
    switch (u->plan->extent) {
    case EXTENT_FUNCTION:
        status = lathe_func_decode_cfg(u->fn, u->addr);
        break;
    case EXTENT_BLOCK:
        status = lathe_func_decode_block(u->fn, u->addr);
        break;
    case EXTENT_INSN:
        status = lathe_func_decode_insn(u->fn, u->addr);
        break;
    }
    u->measures.seconds[STAGE_DISCOVER] = now() - start;
    if (status == LATHE_OK)
        measure_guest(u);
    return status;
}

LatheStatus unit_lift(Unit *u) {
    double start = now();
    u->lifted = lathe_func_lift(u->fn, u->lifted_name);
    if (!u->lifted)
        return lathe_func_problem(u->fn).status ? lathe_func_problem(u->fn).status : LATHE_ERR_ARGUMENT;
    if (u->itself) {
        LLVMReplaceAllUsesWith(u->itself, u->lifted);
        LLVMDeleteFunction(u->itself);
    }
    u->measures.seconds[STAGE_LIFT] = now() - start;
    u->measures.ir_lifted = u->measures.ir_final = count_ir(u->mod);
    if (!u->plan->signature)
        return LATHE_OK;
    if (!lathe_wrap_sysv(u->lifted, u->cfg.arch, u->wrapper_name, u->plan->signature, 0))
        return LATHE_ERR_ARGUMENT;
    LLVMSetLinkage(u->lifted, LLVMInternalLinkage);
    u->entry = u->wrapper_name;
    return LATHE_OK;
}

LatheStatus unit_optimize(Unit *u, LatheJit *jit) {
    double start = now();
    LatheStatus status = lathe_jit_optimize(jit, u->mod, u->plan->opt);
    u->measures.seconds[STAGE_OPTIMIZE] = now() - start;
    u->measures.ir_final = count_ir(u->mod);
    return status;
}

LatheStatus unit_compile(Unit *u, LatheJit *jit) {
    void *object;
    size_t size;
    double start = now();
    LatheStatus status = lathe_jit_emit(jit, u->mod, LATHE_OPT_NONE, false, &object, &size);
    u->measures.seconds[STAGE_COMPILE] = now() - start;
    if (status < 0)
        return status;
    u->measures.host_bytes = code_bytes(object, size);
    free(object);
    return LATHE_OK;
}

void unit_free(Unit *u) {
    lathe_func_free(u->fn);
    LLVMDisposeModule(u->mod);
}

/* ------------------------------------------------------------------------------------------------------ looking */

char *unit_assembly(Unit *u, LatheJit *jit) {
    void *data;
    size_t size;
    if (lathe_jit_emit(jit, u->mod, LATHE_OPT_NONE, true, &data, &size) < 0)
        return NULL;
    char *text = mem_new(size + 1);
    memcpy(text, data, size);
    free(data);
    return text;
}

void *unit_object(Unit *u, LatheJit *jit, size_t *size) {
    void *data;
    return lathe_jit_emit(jit, u->mod, LATHE_OPT_NONE, false, &data, size) < 0 ? NULL : data;
}

const u8 *unit_host_code(Unit *u, LatheJit *jit, size_t *size) {
    LLVMModuleRef copy = LLVMCloneModule(u->mod);
    if (lathe_jit_add(jit, copy, LATHE_OPT_NONE) < 0)
        return NULL;
    return lathe_jit_code(jit, u->entry, size);
}

LatheJit *unit_jit_new(LatheHost host) {
    static const char *const arguments[] = {"lathe", "-x86-asm-syntax=intel"};
    LLVMParseCommandLineOptions(ARRAY_LEN(arguments), arguments, NULL);
    elf_version(EV_CURRENT);
    LatheJitConfig cfg = {.host = host, .symbol = undefined_symbol};
    LatheJit *jit = lathe_jit_new(&cfg);
    if (!jit)
        fprintf(stderr, "lathe: LLVM has no code generator for this host\n");
    return jit;
}

const char *unit_problem(const Unit *u, char *buf, size_t size) {
    LatheProblem p = lathe_func_problem(u->fn);
    if (p.status == LATHE_OK)
        return NULL;
    snprintf(buf, size, "0x%lx: %s", p.pc, p.text ? p.text : lathe_status_text(p.status));
    return buf;
}

const char *unit_failure(const Unit *u, const char *stage, LatheStatus status, char buf[UNIT_FAILURE_MAX]) {
    char problem[256];
    const char *why = unit_problem(u, problem, sizeof(problem));
    snprintf(buf, UNIT_FAILURE_MAX, "cannot %s 0x%lx: %s", stage, u->addr, why ? why : lathe_status_text(status));
    return buf;
}

bool unit_host(const char *name, LatheHost *host) {
    const char *known;
    *host = LATHE_HOST_OWN;
    if (!name)
        return true;
    while ((known = lathe_host_name(++*host)))
        if (!strcmp(known, name))
            return true;
    fprintf(stderr, "lathe: --target: there is no '%s'; there are", name);
    for (*host = LATHE_HOST_OWN; (known = lathe_host_name(++*host));)
        fprintf(stderr, " %s", known);
    fputc('\n', stderr);
    return false;
}

void measures_add(Measures *sum, const Measures *m) {
    sum->insns += m->insns;
    sum->blocks += m->blocks;
    sum->bytes += m->bytes;
    sum->tables += m->tables;
    sum->ir_lifted += m->ir_lifted;
    sum->ir_final += m->ir_final;
    sum->host_bytes += m->host_bytes;
    for (Stage s = 0; s < STAGE_COUNT; s++)
        sum->seconds[s] += m->seconds[s];
}
