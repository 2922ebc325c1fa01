/* jit.c: LatheJit and its linker: code of every level runs and is right, modules see each other, what is wrong with a
 * module is a status, and damaged objects are refused or linked, but never harm the linker. */
#include <lathe/lift.h>

#include "base/base.h"
#include "codegen/link.h"

#include <llvm-c/Core.h>
#include <llvm-c/IRReader.h>

#include <elf.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

/* Each function needs something else of the linker; the switch has a jump table at all levels. */
static const char main_module[] = "module asm \".section .rodata\"\n"
                                  "module asm \".balign 8\"\n"
                                  "module asm \".globl offsets\"\n"
                                  "module asm \"offsets: .quad counter - .\"\n"
                                  "module asm \".long small\"\n"
                                  "@counter = global i64 5\n"
                                  "@zeroes = global [100 x i64] zeroinitializer, align 64\n"
                                  "@pointer = global ptr @counter\n"
                                  "@primes = internal constant [4 x i64] [i64 2, i64 3, i64 5, i64 7]\n"
                                  "declare i64 @far_away(i64)\n"
                                  "declare double @cbrt(double)\n"
                                  "declare extern_weak void @nowhere()\n"
                                  "define double @constant_pool(double %x) {\n"
                                  "  %a = fmul double %x, 3.25\n"
                                  "  %b = fadd double %a, 0.5\n"
                                  "  ret double %b\n"
                                  "}\n"
                                  "define i64 @call_far(i64 %x) {\n"
                                  "  %a = call i64 @far_away(i64 %x)\n"
                                  "  %b = add i64 %a, 1\n"
                                  "  ret i64 %b\n"
                                  "}\n"
                                  "define double @call_libm(double %x) {\n"
                                  "  %a = call double @cbrt(double %x)\n"
                                  "  %b = fadd double %a, %x\n"
                                  "  ret double %b\n"
                                  "}\n"
                                  "define i64 @count(i64 %x) {\n"
                                  "  %p = load ptr, ptr @pointer\n"
                                  "  %a = load i64, ptr %p\n"
                                  "  %b = add i64 %a, %x\n"
                                  "  store i64 %b, ptr @counter\n"
                                  "  %q = getelementptr i64, ptr @zeroes, i64 99\n"
                                  "  %c = load i64, ptr %q\n"
                                  "  %d = add i64 %b, %c\n"
                                  "  ret i64 %d\n"
                                  "}\n"
                                  "define i64 @small_address() {\n"
                                  "  %a = call i64 asm \"movq $$small, $0\", \"=r\"()\n"
                                  "  ret i64 %a\n"
                                  "}\n"
                                  "define ptr @address_of_far() {\n"
                                  "  ret ptr @far_away\n"
                                  "}\n"
                                  "define i64 @has_nowhere() {\n"
                                  "  %a = icmp ne ptr @nowhere, null\n"
                                  "  %b = zext i1 %a to i64\n"
                                  "  ret i64 %b\n"
                                  "}\n"
                                  "define i64 @prime(i64 %x) {\n"
                                  "  %p = getelementptr i64, ptr @primes, i64 %x\n"
                                  "  %a = load i64, ptr %p\n"
                                  "  ret i64 %a\n"
                                  "}\n"
                                  "define i64 @divide(i64 %x) {\n"
                                  "  %a = zext i64 %x to i128\n"
                                  "  %b = shl i128 %a, 64\n"
                                  "  %c = or i128 %a, 3\n"
                                  "  %d = udiv i128 %b, %c\n"
                                  "  %e = trunc i128 %d to i64\n"
                                  "  ret i64 %e\n"
                                  "}\n"
                                  "define internal i64 @twice(i64 %x) alwaysinline {\n"
                                  "  %a = add i64 %x, %x\n"
                                  "  ret i64 %a\n"
                                  "}\n"
                                  "define i64 @jump_table(i64 %n, i64 %x) {\n"
                                  "  switch i64 %n, label %z [ i64 0, label %a  i64 1, label %b  i64 2, label %c\n"
                                  "                            i64 3, label %d  i64 4, label %e  i64 5, label %f ]\n"
                                  "a:\n  %ra = add i64 %x, 77\n  ret i64 %ra\n"
                                  "b:\n  %rb = mul i64 %x, 13\n  ret i64 %rb\n"
                                  "c:\n  %rc = xor i64 %x, 255\n  ret i64 %rc\n"
                                  "d:\n  %rd = udiv i64 %x, 7\n  ret i64 %rd\n"
                                  "e:\n  %re = call i64 @twice(i64 %x)\n  ret i64 %re\n"
                                  "f:\n  %rf = call i64 @far_away(i64 %x)\n  ret i64 %rf\n"
                                  "z:\n  ret i64 -1\n"
                                  "}\n";

static const char user_module[] = "@counter = external global i64\n"
                                  "declare i64 @call_far(i64)\n"
                                  "define i64 @other(i64 %x) {\n"
                                  "  %a = call i64 @call_far(i64 %x)\n"
                                  "  %b = load i64, ptr @counter\n"
                                  "  %c = add i64 %a, %b\n"
                                  "  ret i64 %c\n"
                                  "}\n";

typedef i64 Fn1(i64);
typedef i64 Fn2(i64, i64);
typedef double FnD(double);
typedef void *FnP(void);

static i64 far_away(i64 x) {
    return x * 1000;
}

#define SMALL ((void *)0x12345) /* fits the relocations of 32 bits */

static void *symbol(void *user, const char *name) {
    ++*(int *)user;
    if (!strcmp(name, "small"))
        return SMALL;
    return strcmp(name, "far_away") ? NULL : (void *)far_away;
}

static LLVMModuleRef parse(LLVMContextRef ctx, const char *text) {
    LLVMMemoryBufferRef buf = LLVMCreateMemoryBufferWithMemoryRangeCopy(text, strlen(text), "test");
    LLVMModuleRef mod = NULL;
    char *error = NULL;
    CHECK(!LLVMParseIRInContext(ctx, buf, &mod, &error), error);
    return mod;
}

static LatheStatus add(LatheJit *jit, const char *text, LatheOpt level) {
    LLVMContextRef ctx = LLVMContextCreate();
    LatheStatus status = lathe_jit_add(jit, parse(ctx, text), level);
    LLVMContextDispose(ctx);
    return status;
}

static void *must_find(LatheJit *jit, const char *name) {
    void *at = lathe_jit_lookup(jit, name);
    CHECK(at, "a function of an added module is found");
    return at;
}

static void run_main_module(LatheJit *jit) {
    CHECK(((FnD *)must_find(jit, "constant_pool"))(2.0) == 7.0, "constants are found");
    CHECK(((Fn1 *)must_find(jit, "call_far"))(3) == 3001, "a far function is reached");
    CHECK(((FnD *)must_find(jit, "call_libm"))(27.0) == 27.0 + cbrt(27.0), "libm is reached");
    CHECK(((Fn1 *)must_find(jit, "count"))(2) == 7 && ((Fn1 *)must_find(jit, "count"))(3) == 10, "data are writable");
    CHECK(*(i64 *)must_find(jit, "counter") == 10, "data have names");
    CHECK((u64)must_find(jit, "zeroes") % 64 == 0, "data are aligned");
    CHECK(((FnP *)must_find(jit, "address_of_far"))() == (void *)far_away, "an address comes through its slot");
    CHECK(((Fn1 *)must_find(jit, "has_nowhere"))(0) == 0, "an undefined weak symbol is null");
    CHECK(((Fn1 *)must_find(jit, "prime"))(3) == 7, "constant tables are found");
    CHECK(((Fn1 *)must_find(jit, "divide"))(5) == (i64)(((unsigned __int128)5 << 64) / 7), "libgcc is reached");
    u64 offsets = (u64)must_find(jit, "offsets");
    CHECK(*(u64 *)offsets + offsets == (u64)must_find(jit, "counter"), "64-bit distances are right");
    CHECK(*(u32 *)(offsets + 8) == (u64)SMALL, "32-bit addresses are right");
    CHECK(((FnP *)must_find(jit, "small_address"))() == SMALL, "signed 32-bit addresses are right");
    Fn2 *table = must_find(jit, "jump_table");
    i64 want[] = {177, 1300, 100 ^ 255, 14, 200, 100000, -1};
    for (i64 i = 0; i < 7; i++)
        CHECK(table(i, 100) == want[i], "jump tables work");
    i64 distance = (i64)((u64)table - (u64)far_away);
    CHECK(distance != (i32)distance, "the far function really is out of reach of a plain call");
}

static void test_level(LatheOpt level) {
    int asked = 0;
    LatheJit *jit = lathe_jit_new(&(LatheJitConfig){.symbol = symbol, .user = &asked});
    CHECK(jit, "a compiler for this machine");
    CHECK(add(jit, main_module, level) == LATHE_OK, "the module compiles");
    CHECK(asked > 0, "the caller's symbols are asked for");
    run_main_module(jit);
    CHECK(add(jit, user_module, level) == LATHE_OK, "a module that uses another compiles");
    CHECK(((Fn1 *)must_find(jit, "other"))(4) == 4011, "modules reach each other");
    size_t size;
    const u8 *code = lathe_jit_code(jit, "call_far", &size);
    CHECK(code == lathe_jit_lookup(jit, "call_far") && size > 5 && size < 200, "code can be looked at");
    CHECK(!lathe_jit_lookup(jit, "twice") && !lathe_jit_code(jit, "nobody", &size) && !size, "unknown is unknown");
    lathe_jit_free(jit);
}

/* Many modules through one LatheJit, and the newest definition is the one found. */
static void test_many(LatheOpt level) {
    LatheJit *jit = lathe_jit_new(NULL);
    for (i64 i = 0; i < 50; i++) {
        char text[200];
        snprintf(text, sizeof(text), "define i64 @f(i64 %%x) {\n %%a = mul i64 %%x, %ld\n ret i64 %%a\n}\n", (long)i);
        Fn1 *older = lathe_jit_lookup(jit, "f");
        CHECK(add(jit, text, level) == LATHE_OK, "one module after the other compiles");
        CHECK(((Fn1 *)must_find(jit, "f"))(7) == 7 * i, "the newest definition counts");
        CHECK(!older || older(7) == 7 * (i - 1), "older code stays");
    }
    lathe_jit_free(jit);
}

static void test_faults(void) {
    LatheJit *jit = lathe_jit_new(NULL);
    const char *undefined =
        "declare void @no_such_function()\ndefine void @f() {\n call void @no_such_function()\n ret void\n}\n";
    const char *bad_asm = "define void @f() {\n call void asm \"no such mnemonic\", \"\"()\n ret void\n}\n";
    const char *tls = "@t = thread_local(localexec) global i32 1\ndefine ptr @f() {\n ret ptr @t\n}\n";
    const char *good = "define i64 @good(i64 %x) {\n ret i64 %x\n}\n";
    for (LatheOpt level = LATHE_OPT_NONE; level <= LATHE_OPT_MAX; level++) {
        CHECK(add(jit, undefined, level) == LATHE_ERR_LINK, "an undefined symbol is refused");
        CHECK(add(jit, bad_asm, level) == LATHE_ERR_COMPILE, "bad assembly is refused");
        CHECK(add(jit, tls, level) == LATHE_ERR_LINK, "thread-local data are refused");
        CHECK(!lathe_jit_lookup(jit, "f"), "what failed defines nothing");
        CHECK(add(jit, good, level) == LATHE_OK && ((Fn1 *)must_find(jit, "good"))(9) == 9, "failures leave no trace");
    }
    CHECK(add(jit, good, (LatheOpt)17) == LATHE_ERR_ARGUMENT, "there is no level 17");

    LLVMContextRef ctx = LLVMContextCreate();
    LLVMModuleRef broken = parse(ctx, good);
    LLVMBasicBlockRef b = LLVMGetEntryBasicBlock(LLVMGetNamedFunction(broken, "good"));
    LLVMInstructionEraseFromParent(LLVMGetBasicBlockTerminator(b));
    CHECK(lathe_jit_add(jit, broken, LATHE_OPT_FULL) == LATHE_ERR_COMPILE, "broken IR is refused");
    LLVMContextDispose(ctx);
    lathe_jit_free(jit);
    CHECK(!lathe_jit_new(&(LatheJitConfig){.cpu = "abacus"}), "an unknown CPU is refused");
    CHECK(!lathe_jit_new(&(LatheJitConfig){.features = "+steam"}), "an unknown feature is refused");
}

static void *emit(LatheJit *jit, const char *text, LatheOpt level, bool assembly, size_t *size) {
    LLVMContextRef ctx = LLVMContextCreate();
    LLVMModuleRef mod = parse(ctx, text);
    void *data;
    CHECK(lathe_jit_emit(jit, mod, level, assembly, &data, size) == LATHE_OK, "the module can be emitted");
    LLVMDisposeModule(mod);
    LLVMContextDispose(ctx);
    return data;
}

static bool holds(const char *text, size_t size, const char *word) {
    return memmem(text, size, word, strlen(word)) != NULL;
}

static void test_emit(void) {
    LatheJit *jit = lathe_jit_new(NULL), *fresh = lathe_jit_new(NULL),
             *low = lathe_jit_new(&(LatheJitConfig){.low_vectors = true});
    size_t size, again, other;
    u8 *first = emit(jit, main_module, LATHE_OPT_FULL, false, &size);
    free(emit(jit, user_module, LATHE_OPT_QUICK, false, &other));
    u8 *second = emit(jit, main_module, LATHE_OPT_FULL, false, &again);
    u8 *third = emit(fresh, main_module, LATHE_OPT_FULL, false, &other);
    CHECK(size == again && !memcmp(first, second, size), "an object does not depend on the modules before it");
    CHECK(size == other && !memcmp(first, third, size), "nor on who emits it");
    char *text = emit(jit, main_module, LATHE_OPT_QUICK, true, &size);
    CHECK(holds(text, size, "call_far:") && !holds(text, size, "twice"),
          "assembly; always-inline in the quick pipeline");
    const char *wide = "define void @f(ptr %p) {\n %a = load <16 x float>, ptr %p\n %b = fadd <16 x float> %a, %a\n"
                       " store <16 x float> %b, ptr %p\n ret void\n}\n";
    char *vectors = emit(jit, wide, LATHE_OPT_MAX, true, &size);
    CHECK(!holds(vectors, size, "zmm"), "no AVX-512 unless asked for");
    char *legacy = emit(low, wide, LATHE_OPT_MAX, true, &size);
    CHECK(holds(legacy, size, "\taddps") && !holds(legacy, size, "ymm"), "no AVX at all if asked for");
    free(first), free(second), free(third), free(text), free(vectors), free(legacy);
    lathe_jit_free(jit);
    lathe_jit_free(fresh);
    lathe_jit_free(low);
}

/* A module that was optimised before gets optimising code generation, whatever the level then given. */
static void test_optimize_first(void) {
    LatheJit *jit = lathe_jit_new(NULL);
    LLVMContextRef ctx = LLVMContextCreate();
    LLVMModuleRef mod = parse(ctx, user_module);
    size_t size, direct_size;
    void *data;
    CHECK(lathe_jit_optimize(jit, mod, LATHE_OPT_FULL) == LATHE_OK, "the module can be optimised");
    CHECK(lathe_jit_emit(jit, mod, LATHE_OPT_NONE, false, &data, &size) == LATHE_OK, "and then emitted");
    void *direct = emit(jit, user_module, LATHE_OPT_FULL, false, &direct_size);
    CHECK(size == direct_size && !memcmp(data, direct, size), "as if in one step");
    free(data), free(direct);
    LLVMDisposeModule(mod);
    LLVMContextDispose(ctx);
    lathe_jit_free(jit);
}

static void *thread(void *unused) {
    test_level(LATHE_OPT_QUICK);
    test_level(LATHE_OPT_FULL);
    return unused;
}

static void test_threads(void) {
    pthread_t t[3];
    for (int i = 0; i < 3; i++)
        CHECK(!pthread_create(&t[i], NULL, thread, NULL), "a thread");
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
}

/* ------------------------------------------------------------------------------------------------- damaged objects */

#define MUTATIONS 20000
#define LARGEST_IMAGE (1 << 20) /* what is larger after damage is measured, but not placed */

static u64 next_random(u64 *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    return *state ^= *state << 17;
}

static bool resolve_any(void *user, const char *name, u64 *address) {
    (void)user;
    *address = 0x12345678 + strlen(name);
    return name[0] != 'q';
}

static void count_definition(void *user, const char *name, u64 address, u64 size) {
    (void)address, (void)size;
    *(size_t *)user += strlen(name);
}

/* Into blocks of exactly the size measured, so that address sanitizers and malloc see every step outside. */
static LatheStatus link_scratch(const u8 *object, size_t size, u64 run) {
    LinkNeeds needs;
    LatheStatus status = link_measure(object, size, &needs);
    if (status < 0 || needs.code_bytes > LARGEST_IMAGE || needs.data_bytes > LARGEST_IMAGE)
        return status;
    LinkPlace place = {.code_write = malloc(needs.code_bytes),
                       .data_write = malloc(needs.data_bytes),
                       .code_run = run,
                       .data_run = run + needs.code_bytes,
                       .work = malloc(needs.work_bytes),
                       .resolve = resolve_any};
    status = link_place(object, size, &place);
    size_t defined = 0;
    if (status == LATHE_OK)
        link_symbols(object, size, &place, count_definition, &defined);
    free(place.code_write), free(place.data_write), free(place.work);
    return status;
}

/* Half of all damage is a changed field in the section headers, the symbols or the relocations. */
static size_t damage(u8 *object, size_t size, u64 *random) {
    static const u64 values[] = {0,      1, 7, 24, 0xff00, 0xffff, 0x7fffffff, 0xffffffff, (u64)1 << 29, (u64)1 << 63,
                                 ~(u64)0};
    Elf64_Ehdr h;
    memcpy(&h, object, sizeof(h));
    u64 r = next_random(random), at = next_random(random);
    if (r % 8 == 0)
        return at % size;
    if (r % 8 < 4) {
        object[at % size] ^= 1 << (r >> 8 & 7);
        return size;
    }
    u64 value = r >> 16 & 1 ? values[(r >> 20) % ARRAY_LEN(values)] : (r >> 20) % (2 * size);
    u64 width = (u64)1 << (r >> 17 & 3);
    u64 start = r % 8 < 6 && h.e_shoff < size - 8 ? h.e_shoff : 0; /* an earlier damage may have hit it */
    u64 where = start + at % (size - start - 8);
    memcpy(object + (where & ~(width - 1)), &value, width);
    return size;
}

static void test_damage(LatheOpt level) {
    LatheJit *jit = lathe_jit_new(NULL);
    size_t size;
    u8 *object = emit(jit, main_module, level, false, &size);
    lathe_jit_free(jit);
    u64 random = 88172645463325252;
    int linked = 0, refused = 0;
    for (int i = 0; i < MUTATIONS; i++) {
        u8 *copy = malloc(size);
        memcpy(copy, object, size);
        size_t left = damage(copy, size, &random);
        if (i % 2 && left == size)
            damage(copy, size, &random);
        u8 *exact = malloc(left);
        memcpy(exact, copy, left);
        u64 run = i % 3 ? 0x10000000 : 0x7f0000000000;
        *(link_scratch(exact, left, run) == LATHE_OK ? &linked : &refused) += 1;
        free(exact), free(copy);
    }
    printf("of %d damaged objects of %zu bytes %d were linked\n", MUTATIONS, size, linked);
    CHECK(linked > MUTATIONS / 20 && refused > MUTATIONS / 20, "damage is seen, but not everywhere");
    free(object);
}

int main(void) {
    for (LatheOpt level = LATHE_OPT_NONE; level <= LATHE_OPT_MAX; level++) {
        test_level(level);
        test_many(level);
    }
    test_faults();
    test_emit();
    test_optimize_first();
    test_threads();
    test_damage(LATHE_OPT_NONE);
    test_damage(LATHE_OPT_FULL);
    return 0;
}
