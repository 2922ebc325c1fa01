/* tables.c: discovery finds the jump tables that compilers make, and code lifted with them does what the original does.
 *
 * The first argument is switches.c as a library of the host, the others are images of it for any guest, each linked to run
 * at IMAGE_BASE. An indirect jump without a table is a failure. Every function is lifted and compiled, and its results are
 * compared with those of the library's.
 */
#include <dlfcn.h>
#include <llvm-c/Core.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "elf/elf.h"
#include "lift/func.h"

enum { IMAGE_BASE = 0x50000000, IMAGE_BYTES = 0x20000, MAX_NAME = 64, MIN_TABLES = 20 };

#define PREFIX "switch_"
#define DISPATCH "call_native"

typedef long Function(long x, long y);

typedef struct Image {
    const char *path;
    void *library;
    ElfFile *elf;
    LatheJit *jit;
    VEC(ElfFunction) lifted; /* to be run */
    u32 tables;
    bool failed;
} Image;

static void fail(Image *image, const char *function, const char *what, u64 pc) {
    fprintf(stderr, "%s: %s: %s at 0x%lx\n", image->path, function, what, pc);
    image->failed = true;
}

/* -------------------------------------------------------------------------------------------------------- discovery */

/* Where gcc makes one jump of all computed gotos, each of them loads its target elsewhere: that is no table. */
static bool may_have_none(const char *function) {
    return !strcmp(function, PREFIX "computed_goto");
}

/* True if all jumps have tables. */
static bool check_tables(Image *image, const char *function, const LatheFunc *fn) {
    u32 tables = 0, others = 0;
    for (size_t i = 0; i < fn->insns.len; i++) {
        const Insn *in = &fn->insns.at[i];
        if (in->status != LATHE_OK)
            fail(image, function, "a table leads to what is no code", in->pc);
        if (in->flow != FLOW_INDIRECT)
            continue;
        tables += in->table != NULL;
        others += in->table == NULL;
        if (!in->table && !may_have_none(function))
            fail(image, function, "no table was found for the jump", in->pc);
    }
    image->tables += tables;
    return !others;
}

/* ---------------------------------------------------------------------------------------------------------- running */

static Image *running; /* lifted code's calls do not say whose they are */

static Function *native_function(const Image *image, const char *name) {
    return name ? (Function *)(uintptr_t)dlsym(image->library, name) : NULL;
}

static long call_at(u64 pc, u64 x, u64 y) {
    Function *callee = native_function(running, elf_function_at(running->elf, pc).name);
    CHECK(callee, "lifted code calls functions of its image only");
    return callee((long)x, (long)y);
}

/* The lifted code's calls: what they call is run natively, and comes back. */
static void call_from_x86_64(void *state) {
    LatheX86Cpu *cpu = state;
    cpu->gp[LATHE_RAX] = (u64)call_at(cpu->pc, cpu->gp[LATHE_RDI], cpu->gp[LATHE_RSI]);
    memcpy(&cpu->pc, (void *)(uintptr_t)cpu->gp[LATHE_RSP], sizeof(cpu->pc));
    cpu->gp[LATHE_RSP] += 8;
}

static void call_from_riscv64(void *state) {
    LatheRiscv64Cpu *cpu = state;
    cpu->x[10] = (u64)call_at(cpu->pc, cpu->x[10], cpu->x[11]);
    cpu->pc = cpu->x[1];
}

static void call_from_aarch64(void *state) {
    LatheAarch64Cpu *cpu = state;
    cpu->x[0] = (u64)call_at(cpu->pc, cpu->x[0], cpu->x[1]);
    cpu->pc = cpu->x[30];
}

static void *find_symbol(void *user, const char *name) {
    static LatheEntry *const calls[] = {[LATHE_ARCH_X86_64] = call_from_x86_64,
                                        [LATHE_ARCH_RISCV64] = call_from_riscv64,
                                        [LATHE_ARCH_AARCH64] = call_from_aarch64};
    Image *image = user;
    return strcmp(name, DISPATCH) ? NULL : (void *)(uintptr_t)calls[elf_arch(image->elf)];
}

static void compare(Image *image, const char *function, Function *native, Function *lifted, long x) {
    static const long others[] = {0, 1, -5, 7, 12, 1000003};
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        if (native(x, others[i]) != lifted(x, others[i])) {
            fprintf(stderr, "with %ld, %ld: ", x, others[i]);
            fail(image, function, "a result differs", IMAGE_BASE);
        }
}

static void compare_all(Image *image, const ElfFunction *f) {
    static const long rare[] = {4999,    5000,    9000,    65536,    65540,       999999,        1000000,
                                1000004, 1000009, 1000010, 1L << 32, -(1L << 32), (1L << 32) + 3};
    Function *native = native_function(image, f->name);
    Function *lifted = (Function *)(uintptr_t)lathe_jit_lookup(image->jit, f->name);
    if (!lifted || !native) {
        fail(image, f->name, "no code was made for what is", f->addr);
        return;
    }
    for (long x = -140; x < 310; x++)
        compare(image, f->name, native, lifted, x);
    for (size_t i = 0; i < ARRAY_LEN(rare); i++)
        compare(image, f->name, native, lifted, rare[i]);
}

/* The image as the loader would map it, word by word, as segments begin anywhere; NULL if the place is taken. */
static void *map_image(ElfFile *elf) {
    u8 *at = mmap((void *)(uintptr_t)IMAGE_BASE, IMAGE_BYTES, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (at != (u8 *)(uintptr_t)IMAGE_BASE)
        return NULL;
    for (u64 off = 0; off < IMAGE_BYTES; off += 8)
        elf_read(elf, IMAGE_BASE + off, at + off, 8);
    return mprotect(at, IMAGE_BYTES, PROT_READ | PROT_EXEC) ? NULL : at;
}

/* ---------------------------------------------------------------------------------------------------------- lifting */

static LLVMValueRef declare_dispatch(LLVMModuleRef mod) {
    LLVMContextRef ctx = LLVMGetModuleContext(mod);
    LLVMTypeRef ptr = LLVMPointerTypeInContext(ctx, 0);
    return LLVMAddFunction(mod, DISPATCH, LLVMFunctionType(LLVMVoidTypeInContext(ctx), &ptr, 1, false));
}

static void lift_function(Image *image, LLVMModuleRef mod, LLVMValueRef dispatch, const ElfFunction *f) {
    LatheConfig cfg = {.arch = elf_arch(image->elf), .read_memory = elf_read_const, .user = image->elf};
    cfg.calls = LATHE_CALLS_RETURN;
    cfg.dispatch = dispatch;
    LatheFunc *fn = lathe_func_new(mod, &cfg);
    char name[MAX_NAME];
    snprintf(name, sizeof(name), "lifted_%s", f->name);
    if (lathe_func_decode_cfg(fn, f->addr) != LATHE_OK) {
        fail(image, f->name, "no code", f->addr);
    } else if (check_tables(image, f->name, fn)) {
        LLVMValueRef lifted = lathe_func_lift(fn, name);
        if (!lifted || !lathe_wrap_sysv(lifted, cfg.arch, f->name, "lll", 0))
            fail(image, f->name, "it could not be lifted", lathe_func_problem(fn).pc);
        else
            VEC_PUSH(&image->lifted, *f);
    }
    lathe_func_free(fn);
}

/* Names with a dot are parts of functions. */
static bool is_test(const ElfFunction *f) {
    return f->name && !strncmp(f->name, PREFIX, strlen(PREFIX)) && !strchr(f->name, '.');
}

static void lift_all(Image *image) {
    const ElfFunction *functions;
    size_t count = elf_functions(image->elf, &functions);
    LLVMContextRef ctx = LLVMContextCreate();
    LLVMModuleRef mod = LLVMModuleCreateWithNameInContext("switches", ctx);
    LLVMValueRef dispatch = declare_dispatch(mod);
    for (size_t i = 0; i < count; i++)
        if (is_test(&functions[i]))
            lift_function(image, mod, dispatch, &functions[i]);
    if (lathe_jit_add(image->jit, mod, LATHE_OPT_QUICK) != LATHE_OK)
        fail(image, "all", "LLVM could not compile the module", 0);
    LLVMContextDispose(ctx);
}

static bool test_image(void *library, const char *path) {
    ElfError error = {0};
    Image image = {.path = path, .library = library, .elf = elf_open(path, &error)};
    if (!image.elf) {
        fprintf(stderr, "%s: %s\n", path, error.text);
        return false;
    }
    LatheJitConfig cfg = {.symbol = find_symbol, .user = &image};
    running = &image;
    image.jit = lathe_jit_new(&cfg);
    CHECK(image.jit, "LLVM can compile for this machine");
    lift_all(&image);
    void *mapped = map_image(image.elf);
    if (!mapped)
        fail(&image, "all", "the image cannot be mapped", IMAGE_BASE);
    for (size_t i = 0; mapped && i < image.lifted.len; i++)
        compare_all(&image, &image.lifted.at[i]);
    if (image.tables < MIN_TABLES)
        fail(&image, "all", "there are too few tables to make a test", IMAGE_BASE);
    const char *verdict = image.failed ? ", failed" : "";
    printf("%s: %u tables, %zu functions run%s\n", path, image.tables, image.lifted.len, verdict);
    if (mapped)
        munmap(mapped, IMAGE_BYTES);
    VEC_FREE(&image.lifted);
    lathe_jit_free(image.jit);
    elf_close(image.elf);
    return !image.failed;
}

int main(int argc, char **argv) {
    void *library = argc > 2 ? dlopen(argv[1], RTLD_NOW) : NULL;
    bool ok = library;
    if (!ok)
        fprintf(stderr, "usage: test-tables LIBRARY IMAGE...\n");
    for (int i = 2; library && i < argc; i++)
        ok &= test_image(library, argv[i]);
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
