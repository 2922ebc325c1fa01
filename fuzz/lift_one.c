/* lift_one.c: see lift_one.h. */
#include "lift_one.h"

#include <stdio.h>
#include <stdlib.h>

#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>

#include "ir/tuning.h"
#include "lathe/lift.h"

enum { HEAD_BYTES = 4, MAX_INSNS = 2000 };

/* The head of an input: two bytes of options, one that chooses the address, one how it is decoded and whether
 * compiled. */
enum {
    OPT_CALLS = 1 << 0,
    OPT_DISPATCH = 1 << 1,
    OPT_PIC = 1 << 2,
    OPT_KEEP_FLAGS = 1 << 3,
    OPT_STRICT_FP = 1 << 4,
    OPT_MARKERS = 1 << 5,
    OPT_NO_TABLES = 1 << 6,
    OPT_RESOLVE = 1 << 7,
    OPT_OVERRIDES = 1 << 8,
    OPT_SEGMENTS = 1 << 9,
    OPT_EXACT = 1 << 10,
    OPT_LIMIT = 1 << 11,
};

/* Guest memory: `size` bytes at `base`, which may wrap around the end of the address space. */
typedef struct Guest {
    u64 base;
    const u8 *bytes;
    size_t size;
    LLVMValueRef callee;
} Guest;

static size_t read_guest(void *user, uint64_t addr, void *buf, size_t size) {
    const Guest *g = user;
    u64 offset = addr - g->base;
    if (offset >= g->size)
        return 0;
    size_t n = g->size - offset < size ? g->size - offset : size;
    memcpy(buf, g->bytes + offset, n);
    return n;
}

/* Every other address has a function. */
static LLVMValueRef resolve(void *user, uint64_t pc) {
    return pc & 1 ? ((Guest *)user)->callee : NULL;
}

static u64 address_of(u8 choice, size_t size) {
    static const u64 bases[] = {0x401000, 0, 1, 0x7ffffff0, 0xfffffff0, 0x7ffffffff000, 0xffffffffff600000};
    u32 i = choice % (ARRAY_LEN(bases) + 2);
    if (i < ARRAY_LEN(bases))
        return bases[i];
    return i == ARRAY_LEN(bases) ? 0 - (u64)size : 0 - (u64)size / 2; /* up to the end, and around it */
}

static LLVMValueRef declare(LLVMModuleRef mod, const char *name, const char *types) {
    LLVMContextRef ctx = LLVMGetModuleContext(mod);
    LLVMTypeRef args[4];
    unsigned n = 0;
    for (; types[n]; n++)
        args[n] = types[n] == 'p'   ? LLVMPointerTypeInContext(ctx, 0)
                  : types[n] == 'l' ? LLVMInt64TypeInContext(ctx)
                                    : LLVMInt32TypeInContext(ctx);
    return LLVMAddFunction(mod, name, LLVMFunctionType(LLVMVoidTypeInContext(ctx), args, n, false));
}

static void configure(LatheConfig *cfg, u32 options, LLVMModuleRef mod, Guest *g) {
    cfg->read_memory = read_guest;
    cfg->user = g;
    cfg->max_insns = options & OPT_LIMIT ? 7 : MAX_INSNS;
    cfg->calls = options & OPT_CALLS ? LATHE_CALLS_RETURN : LATHE_CALLS_EXIT;
    cfg->keep_flags_at_calls = options & OPT_KEEP_FLAGS;
    cfg->strict_fp = options & OPT_STRICT_FP;
    cfg->no_jump_tables = options & OPT_NO_TABLES;
    static const LatheTuning native_fs = {.native_fs = true};
    cfg->tuning = options & OPT_SEGMENTS ? &native_fs : NULL;
    cfg->exact_unsupported = options & OPT_EXACT;
    g->callee = declare(mod, "callee", "p");
    if (options & OPT_DISPATCH)
        cfg->dispatch = declare(mod, "dispatch", "p");
    if (options & OPT_RESOLVE)
        cfg->resolve = resolve;
    if (options & OPT_PIC) {
        cfg->pic_symbol = "guest";
        cfg->pic_base = g->base;
    }
    if (options & OPT_MARKERS) {
        cfg->mark_insn = declare(mod, "mark_insn", "li");
        cfg->mark_block = declare(mod, "mark_block", "li");
        cfg->mark_memory = declare(mod, "mark_memory", "lpii");
    }
    if (options & OPT_OVERRIDES)
        cfg->on_syscall = cfg->on_cpuid = cfg->on_rdtsc = cfg->on_xgetbv = cfg->on_rdrand =
            declare(mod, "override", "p");
}

static LatheStatus decode(LatheFunc *fn, u8 how, const Guest *g) {
    switch (how % 8) {
    case 0:
        return lathe_func_decode_insn(fn, g->base);
    case 1:
        return lathe_func_decode_block(fn, g->base);
    case 2:
        lathe_func_decode_block(fn, g->base + g->size / 2);
        break; /* and more of the same function: */
    }
    return lathe_func_decode_cfg(fn, g->base);
}

static void expect(bool ok, const char *what) {
    if (ok)
        return;
    fprintf(stderr, "lift_one: %s\n", what);
    abort();
}

static void ask_ranges(LatheFunc *fn) {
    const LatheRange *r;
    size_t n = lathe_func_ranges(fn, &r);
    for (size_t i = 0; i < n; i++) {
        expect(r[i].start != r[i].end, "an empty range");
        expect(!i || r[i - 1].end < r[i].start, "ranges are not sorted and disjoint");
    }
}

static void ask_blocks(LatheFunc *fn, const LatheConfig *cfg) {
    char text[128];
    for (size_t i = 0; i < lathe_func_block_count(fn); i++) {
        LatheBlock b = lathe_func_block(fn, i);
        expect(b.insn_count && b.insns[0] == b.start, "a block that does not begin with its first instruction");
        for (size_t k = 0; k < b.insn_count; k++)
            lathe_disassemble(cfg, b.insns[k], text, k & 1 ? sizeof(text) : 5);
    }
}

static void verify(LLVMModuleRef mod) {
    char *message = NULL;
    if (LLVMVerifyModule(mod, LLVMReturnStatusAction, &message)) {
        LLVMDumpModule(mod);
        fprintf(stderr, "%s\n", message);
        expect(false, "the lifted module is not valid");
    }
    LLVMDisposeMessage(message);
}

/* What is valid IR can still be beyond the code generator. */
static void compile(LLVMModuleRef mod, LatheOpt level) {
    LatheJit *jit = lathe_jit_new(NULL);
    void *object = NULL;
    size_t size;
    expect(jit, "no compiler for this machine");
    expect(lathe_jit_emit(jit, mod, level, false, &object, &size) == LATHE_OK, "the lifted module cannot be compiled");
    free(object);
    lathe_jit_free(jit);
}

void lift_one(const u8 *data, size_t size) {
    if (size <= HEAD_BYTES)
        return;
    u32 options = data[0] | (u32)data[1] << 8;
    Guest g = {address_of(data[2], size - HEAD_BYTES), data + HEAD_BYTES, size - HEAD_BYTES, NULL};
    LLVMContextRef ctx = LLVMContextCreate();
    LLVMModuleRef mod = LLVMModuleCreateWithNameInContext("fuzz", ctx);
    LatheConfig cfg = {0};
    configure(&cfg, options, mod, &g);
    LatheFunc *fn = lathe_func_new(mod, &cfg);
    LatheStatus status = decode(fn, data[3], &g);
    ask_ranges(fn);
    ask_blocks(fn, &cfg);
    LLVMValueRef f = lathe_func_lift(fn, "lifted");
    expect(f || lathe_func_problem(fn).status != LATHE_OK, "lifting failed without a reason");
    expect(status == LATHE_OK || lathe_func_problem(fn).status != LATHE_OK, "decoding failed without a reason");
    if (f)
        lathe_wrap_sysv(f, LATHE_ARCH_X86_64, "wrapped", "dlpid", 0);
    lathe_func_free(fn);
    verify(mod);
    if (data[3] >> 4 == 15)
        compile(mod, data[3] & 8 ? LATHE_OPT_QUICK : LATHE_OPT_NONE);
    LLVMDisposeModule(mod);
    LLVMContextDispose(ctx);
}
