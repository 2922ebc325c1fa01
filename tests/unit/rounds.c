/* rounds.c: short loops whose number of rounds is a constant do several rounds at once; long ones, and those of any other length, do not. */
#include <lathe/lift.h>

#include "base/base.h"
#include "codegen/pipeline.h"

#include <llvm-c/Core.h>
#include <llvm-c/IRReader.h>

#include <stdio.h>
#include <stdlib.h>

/* Stores are volatile, so that they stay one by one. */
#define LOOP(name, rounds, body)                                                                                       \
    "define void @" name "(ptr %p, i64 %n) {\n"                                                                        \
    "entry:\n"                                                                                                         \
    "  br label %loop\n"                                                                                               \
    "loop:\n"                                                                                                          \
    "  %i = phi i64 [ 0, %entry ], [ %next, %loop ]\n"                                                                 \
    "  %at = getelementptr i64, ptr %p, i64 %i\n"                                                                      \
    "  %old = load volatile i64, ptr %at\n" body "  %next = add i64 %i, 1\n"                                           \
    "  %last = icmp eq i64 %next, " rounds "\n"                                                                        \
    "  br i1 %last, label %out, label %loop\n"                                                                         \
    "out:\n"                                                                                                           \
    "  ret void\n"                                                                                                     \
    "}\n"
#define STORE "  store volatile i64 %i, ptr %at\n"
#define STORE_4 STORE STORE STORE STORE
#define STORE_16 STORE_4 STORE_4 STORE_4 STORE_4

static const char module_text[] =
    LOOP("eights", "64", STORE) LOOP("sixes", "150", STORE) LOOP("prime", "101", STORE) LOOP("any", "%n", STORE)
        LOOP("fewer", "64", STORE_16) LOOP("fenced", "64", STORE "  call void asm sideeffect \"\", \"~{memory}\"()\n");

static const struct {
    const char *name;
    u32 rounds, stores; /* in all; in the loop */
} expected[] = {{"eights", 64, 8}, {"sixes", 150, 6},     {"prime", 101, 1},
                {"any", 9, 1},     {"fewer", 64, 4 * 16}, {"fenced", 64, 1}};

static int failures;

static void check(bool ok, const char *what, const char *name) {
    if (!ok)
        fprintf(stderr, "FAILED: %s of %s\n", what, name);
    failures += !ok;
}

static LLVMModuleRef parse(LLVMContextRef ctx) {
    LLVMModuleRef mod = NULL;
    char *error = NULL;
    LLVMMemoryBufferRef text =
        LLVMCreateMemoryBufferWithMemoryRangeCopy(module_text, sizeof(module_text) - 1, "rounds");
    CHECK(!LLVMParseIRInContext(ctx, text, &mod, &error), "the test's module is wrong");
    return mod;
}

static u32 stores_in(LLVMModuleRef mod, const char *name) {
    u32 count = 0;
    LLVMValueRef fn = LLVMGetNamedFunction(mod, name);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(fn); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            count += LLVMGetInstructionOpcode(i) == LLVMStore;
    return count;
}

static bool stores_all(LatheJit *jit, const char *name, u32 rounds) {
    static i64 words[256];
    void (*run)(i64 *, u64) = (void (*)(i64 *, u64))(u64)lathe_jit_lookup(jit, name);
    memset(words, -1, sizeof(words));
    run(words, rounds);
    for (u32 i = 0; i < ARRAY_LEN(words); i++)
        if (words[i] != (i < rounds ? (i64)i : -1))
            return false;
    return true;
}

int main(void) {
    LLVMContextRef ctx = LLVMContextCreate();
    LatheJit *jit = lathe_jit_new(NULL);
    LLVMModuleRef mod = parse(ctx);
    CHECK(jit, "no memory for code");
    check(lathe_jit_optimize(jit, mod, (LatheOpt)OPT_LOOPS) == LATHE_OK, "optimisation", "all");
    for (u32 i = 0; i < ARRAY_LEN(expected); i++)
        check(stores_in(mod, expected[i].name) == expected[i].stores, "stores", expected[i].name);
    check(lathe_jit_add(jit, mod, LATHE_OPT_NONE) == LATHE_OK, "compilation", "all");
    for (u32 i = 0; i < ARRAY_LEN(expected); i++)
        check(stores_all(jit, expected[i].name, expected[i].rounds), "results", expected[i].name);
    lathe_jit_free(jit);
    LLVMContextDispose(ctx);
    return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
