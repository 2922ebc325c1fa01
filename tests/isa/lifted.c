/* lifted.c: see lifted.h. */
#include "lifted.h"

#include <signal.h>
#include <stdio.h>

#include "ir/tuning.h"
#include "isa/isa.h"
#include "oracle.h"

#include <llvm-c/Core.h>

#define CASES_PER_MODULE 100
/* In position-independent mode the code is lifted from another address than it runs at: an absolute address shows. */
#define PIC_DISTANCE 0x5000000u

const char *const lifted_mode_names[LIFTED_MODES] = {"unoptimised", "optimised", "pic"};

struct Lifted {
    const CaseList *list;
    LiftedMode mode;
    LLVMContextRef ctx;
    LatheJit *jit;
    LatheEntry **entry;
    const char **problem;
    Arena arena;
};

/* A case's bytes as guest memory in which nothing else is readable. */
typedef struct CodeBytes {
    u64 pc;
    const u8 *bytes;
    size_t size;
} CodeBytes;

static size_t read_code(void *user, uint64_t addr, void *buf, size_t size) {
    const CodeBytes *c = user;
    if (addr < c->pc || addr >= c->pc + c->size)
        return 0;
    size_t offset = addr - c->pc, room = c->size - offset;
    memcpy(buf, c->bytes + offset, size < room ? size : room);
    return size < room ? size : room;
}

/* Lifted code cannot be told where to put its marks, so that there is one place for them. */
#define MARKER "lifted_mark"
static LiftedMark marks[LIFTED_MARKS];
static size_t mark_count;

static void mark(u64 pc, u64 address, u32 bytes, u32 kind) {
    if (mark_count < LIFTED_MARKS)
        marks[mark_count++] = (LiftedMark){pc, address, bytes, kind};
}

size_t lifted_marks(const LiftedMark **list) {
    *list = marks;
    return mark_count;
}

static LLVMValueRef declare_marker(LLVMModuleRef mod) {
    LLVMContextRef ctx = LLVMGetModuleContext(mod);
    LLVMTypeRef i32 = LLVMInt32TypeInContext(ctx);
    LLVMTypeRef types[] = {LLVMInt64TypeInContext(ctx), LLVMPointerTypeInContext(ctx, 0), i32, i32};
    LLVMValueRef f = LLVMGetNamedFunction(mod, MARKER);
    return f ? f : LLVMAddFunction(mod, MARKER, LLVMFunctionType(LLVMVoidTypeInContext(ctx), types, 4, false));
}

static void *find_symbol(void *user, const char *name) {
    (void)user;
    if (!strcmp(name, MARKER))
        return (void *)mark;
    return strcmp(name, LIFTED_PIC_SYMBOL) ? NULL : (void *)(uintptr_t)STATE_CODE;
}

void lifted_name(size_t index, char name[32]) {
    snprintf(name, 32, "case_%zu", index);
}

/* A narrow signature leaves out the vector registers that the decoder does not name; lifting stops if one is needed
 * after all. */
static void lift_narrow(LLVMContextRef ctx, LatheHost host, CodeBytes *bytes) {
    LLVMModuleRef mod = LLVMModuleCreateWithNameInContext("narrow", ctx);
    LatheTuning tuning = {.convention = LATHE_CONVENTION_REGISTERS, .narrow = true};
    LatheConfig cfg = {.arch = GUEST_ARCH, .host = host, .read_memory = read_code, .user = bytes, .tuning = &tuning};
    LatheFunc *fn = lathe_func_new(mod, &cfg);
    if (lathe_func_decode_cfg(fn, bytes->pc) == LATHE_OK)
        lathe_func_lift(fn, "narrow");
    lathe_func_free(fn);
    LLVMDisposeModule(mod);
}

/* How many bytes the first instruction has; where nothing follows it, the decoder makes one of it alone. */
static size_t first_size(const Case *c) {
    InsnView v;
    return isa_find(GUEST_ARCH)->view(c->code, c->size, STATE_CODE, &v) ? v.size : 0;
}

const char *lifted_case(const CaseList *list, size_t index, LiftedMode mode, LatheHost host, LLVMModuleRef mod,
                        Arena *a) {
    const Case *c = &list->at[index];
    bool pic = mode == LIFTED_PIC;
    CodeBytes bytes = {STATE_CODE - (pic ? PIC_DISTANCE : 0), c->code, mode == LIFTED_MARKED ? first_size(c) : c->size};
    LatheConfig cfg = {.arch = GUEST_ARCH,
                       .host = host,
                       .read_memory = read_code,
                       .user = &bytes,
                       .keep_flags_at_calls = true,
                       .strict_fp = true};
    if (pic) {
        cfg.pic_symbol = LIFTED_PIC_SYMBOL;
        cfg.pic_base = bytes.pc;
    }
    if (mode == LIFTED_MARKED)
        cfg.mark_memory = declare_marker(mod);
    if (mode == LIFTED_UNOPTIMISED)
        lift_narrow(LLVMGetModuleContext(mod), host, &bytes);
    char name[32];
    lifted_name(index, name);
    LatheFunc *fn = lathe_func_new(mod, &cfg);
    LatheStatus status =
        mode == LIFTED_MARKED ? lathe_func_decode_insn(fn, bytes.pc) : lathe_func_decode_cfg(fn, bytes.pc);
    const char *problem = NULL;
    if (status != LATHE_OK)
        problem = lathe_status_text(status);
    else if (!lathe_func_lift(fn, name))
        problem = arena_printf(a, "%s", lathe_func_problem(fn).text);
    lathe_func_free(fn);
    return problem;
}

static void compile_some(Lifted *l, size_t first, size_t end) {
    LLVMModuleRef mod = LLVMModuleCreateWithNameInContext("cases", l->ctx);
    for (size_t i = first; i < end; i++)
        l->problem[i] = lifted_case(l->list, i, l->mode, LATHE_HOST_OWN, mod, &l->arena);
    bool plain = l->mode == LIFTED_UNOPTIMISED || l->mode == LIFTED_MARKED;
    LatheStatus status = lathe_jit_add(l->jit, mod, plain ? LATHE_OPT_NONE : LATHE_OPT_FULL);
    for (size_t i = first; i < end; i++) {
        char name[32];
        lifted_name(i, name);
        if (l->problem[i])
            continue;
        l->entry[i] = status == LATHE_OK ? (LatheEntry *)lathe_jit_lookup(l->jit, name) : NULL;
        if (!l->entry[i])
            l->problem[i] = status == LATHE_OK ? "the compiled module lacks it" : lathe_status_text(status);
    }
}

Lifted *lifted_new(const CaseList *list, LiftedMode mode) {
    Lifted *l = mem_new(sizeof(Lifted));
    l->list = list;
    l->mode = mode;
    l->ctx = LLVMContextCreate();
    l->jit = lathe_jit_new(&(LatheJitConfig){.symbol = find_symbol});
    CHECK(l->jit, "no JIT compiler for this machine");
    l->entry = ARENA_ARRAY(&l->arena, LatheEntry *, list->len);
    l->problem = ARENA_ARRAY(&l->arena, const char *, list->len);
    for (size_t i = 0; i < list->len; i += CASES_PER_MODULE)
        compile_some(l, i, i + CASES_PER_MODULE < list->len ? i + CASES_PER_MODULE : list->len);
    return l;
}

void lifted_free(Lifted *l) {
    lathe_jit_free(l->jit);
    LLVMContextDispose(l->ctx);
    arena_free(&l->arena);
    mem_free(l);
}

const char *lifted_problem(const Lifted *l, size_t index) {
    return l->problem[index];
}

/* Lifted code itself reports what the instruction means; only its memory and floating-point faults are the host's. */
u32 lifted_trap_of(NativeResult r) {
    u32 trap = native_trap_of(r, LATHE_TRAP_MISALIGNED);
    return trap == TRAP_MEMORY || trap == LATHE_TRAP_MISALIGNED || trap == TRAP_FLOAT ? trap : TRAP_SIGNAL;
}

void lifted_leave(const Case *c, State *s) {
    if (s->cpu.trap == LATHE_TRAP_UNREADABLE && s->cpu.pc - STATE_CODE >= c->size)
        s->cpu.trap = LATHE_TRAP_NONE;
}

bool lifted_run(const Lifted *l, size_t index, State *s) {
    u8 *memory = state_memory();
    memcpy(memory, s->memory, STATE_MEMORY_BYTES);
    mark_count = 0;
    guest_enter(&s->cpu);
    NativeResult r = native_call(l->entry[index], &s->cpu);
    guest_leave(&s->cpu);
    memcpy(s->memory, memory, STATE_MEMORY_BYTES);
    if (r.signal)
        s->cpu.trap = lifted_trap_of(r);
    else
        lifted_leave(&l->list->at[index], s);
    return !r.signal;
}
