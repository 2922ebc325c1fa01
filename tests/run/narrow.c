/* narrow.c: which objects keep the vector registers that are not theirs (src/run/server/narrow.c). */
#include <llvm-c/Core.h>
#include <llvm-c/IRReader.h>
#include <stdio.h>
#include <stdlib.h>

#include "run/server/server.h"

typedef struct Sample {
    const char *ir;
    unsigned vectors; /* the least number that holds; NEVER: none does */
} Sample;

enum { NEVER = 99 };

static const Sample samples[] = {
    {"define i64 @g_10(i64 %a, i64 %b) { %c = add i64 %a, %b ret i64 %c }", 0},
    {"define <2 x i64> @g_10(<2 x i64> %a) { %b = add <2 x i64> %a, %a ret <2 x i64> %b }", 1},
    {"define <2 x i64> @g_10(<2 x i64> %a, <2 x i64> %b, <2 x i64> %c) {"
     " %d = xor <2 x i64> %a, %c ret <2 x i64> %d }",
     3},
    {"define <4 x i64> @g_10(<4 x i64> %a, <4 x i64> %b) { %c = xor <4 x i64> %a, %b ret <4 x i64> %c }", 4},
    {"declare i64 @g_20(i64)\ndefine i64 @g_10(i64 %a) { %b = tail call i64 @g_20(i64 %a) ret i64 %b }", 0},
    {"@guest = external hidden global i8\ndefine ptr @g_10() { ret ptr @guest }", 0},
    {"declare i64 @helper(i64)\ndefine i64 @g_10(i64 %a) { %b = tail call i64 @helper(i64 %a) ret i64 %b }", NEVER},
    {"declare void @guest_syscall(ptr)\ndefine void @g_10(ptr %a) { call void @guest_syscall(ptr %a) ret void }",
     NEVER},
};

static void *compile(LatheJit *jit, LLVMContextRef ctx, const char *ir) {
    LLVMMemoryBufferRef text = LLVMCreateMemoryBufferWithMemoryRangeCopy(ir, strlen(ir), "sample");
    LLVMModuleRef mod;
    char *error = NULL;
    void *object = NULL;
    size_t size;
    CHECK(!LLVMParseIRInContext(ctx, text, &mod, &error), "a sample that is no IR");
    LatheStatus status = lathe_jit_emit(jit, mod, LATHE_OPT_FULL, false, &object, &size);
    CHECK(status == LATHE_OK, "a sample that cannot be compiled");
    LLVMDisposeModule(mod);
    return object;
}

static int check(const Sample *s, const void *object) {
    int failed = 0;
    for (unsigned n = 0; n <= 16; n++) {
        bool want = n >= s->vectors;
        if (narrow_holds(object, n) == want)
            continue;
        printf("FAIL with %u vectors, expected to %s:\n%s\n", n, want ? "hold" : "fail", s->ir);
        failed++;
    }
    return failed;
}

int main(void) {
    LatheJit *jit = lathe_jit_new(&(LatheJitConfig){.cpu = "x86-64-v2"});
    LLVMContextRef ctx = LLVMContextCreate();
    int failed = 0;
    for (size_t i = 0; i < ARRAY_LEN(samples); i++) {
        void *object = compile(jit, ctx, samples[i].ir);
        failed += check(&samples[i], object);
        free(object);
    }
    LLVMContextDispose(ctx);
    lathe_jit_free(jit);
    return failed != 0;
}
