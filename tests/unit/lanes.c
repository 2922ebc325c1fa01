/* lanes.c: a loop that only computes with the low lanes of vectors puts none of them into a vector again; one that computes with whole vectors keeps these in one piece. */
#include <lathe/lift.h>

#include "base/base.h"

#include <llvm-c/Core.h>
#include <llvm-c/IRReader.h>

#include <stdio.h>
#include <stdlib.h>

/* The phis are as the lifter makes them where a whole register was asked for before its low lane. `scalar` has two ways from one block to another; `later` has the vector used in whole
 * behind the loop only; `packed` and `beside` use it within. */
static const char module_text[] = "define double @scalar(<2 x i64> %v, i64 %n) {\n"
                                  "entry:\n"
                                  "  switch i64 %n, label %loop [ i64 0, label %out\n"
                                  "                               i64 7, label %out ]\n"
                                  "loop:\n"
                                  "  %w = phi <2 x i64> [ %v, %entry ], [ %next, %loop ]\n"
                                  "  %i = phi i64 [ %n, %entry ], [ %less, %loop ]\n"
                                  "  %d = bitcast <2 x i64> %w to <2 x double>\n"
                                  "  %low = extractelement <2 x double> %d, i32 0\n"
                                  "  %more = fmul double %low, 3.0\n"
                                  "  %joined = insertelement <2 x double> %d, double %more, i32 0\n"
                                  "  %next = bitcast <2 x double> %joined to <2 x i64>\n"
                                  "  %less = sub i64 %i, 1\n"
                                  "  %last = icmp eq i64 %less, 0\n"
                                  "  br i1 %last, label %out, label %loop\n"
                                  "out:\n"
                                  "  %o = phi <2 x i64> [ %v, %entry ], [ %v, %entry ], [ %next, %loop ]\n"
                                  "  %e = bitcast <2 x i64> %o to <2 x double>\n"
                                  "  %r = extractelement <2 x double> %e, i32 0\n"
                                  "  ret double %r\n"
                                  "}\n"
                                  "define <2 x double> @later(<2 x double> %v, i64 %n) {\n"
                                  "entry:\n"
                                  "  br label %loop\n"
                                  "loop:\n"
                                  "  %w = phi <2 x double> [ %v, %entry ], [ %next, %loop ]\n"
                                  "  %i = phi i64 [ %n, %entry ], [ %less, %loop ]\n"
                                  "  %low = extractelement <2 x double> %w, i32 0\n"
                                  "  %more = fmul double %low, 3.0\n"
                                  "  %next = insertelement <2 x double> %w, double %more, i32 0\n"
                                  "  %less = sub i64 %i, 1\n"
                                  "  %last = icmp eq i64 %less, 0\n"
                                  "  br i1 %last, label %out, label %loop\n"
                                  "out:\n"
                                  "  ret <2 x double> %next\n"
                                  "}\n"
                                  "define <2 x double> @packed(<2 x double> %v, i64 %n) {\n"
                                  "entry:\n"
                                  "  br label %loop\n"
                                  "loop:\n"
                                  "  %w = phi <2 x double> [ %v, %entry ], [ %next, %loop ]\n"
                                  "  %i = phi i64 [ %n, %entry ], [ %less, %loop ]\n"
                                  "  %more = fmul <2 x double> %w, %v\n"
                                  "  %low = extractelement <2 x double> %more, i32 0\n"
                                  "  %one = fadd double %low, 1.0\n"
                                  "  %next = insertelement <2 x double> %more, double %one, i32 0\n"
                                  "  %less = sub i64 %i, 1\n"
                                  "  %last = icmp eq i64 %less, 0\n"
                                  "  br i1 %last, label %out, label %loop\n"
                                  "out:\n"
                                  "  ret <2 x double> %next\n"
                                  "}\n"
                                  "define <4 x float> @beside(<4 x float> %v, ptr %p, i64 %n) {\n"
                                  "entry:\n"
                                  "  br label %loop\n"
                                  "loop:\n"
                                  "  %w = phi <4 x float> [ %v, %entry ], [ %next, %loop ]\n"
                                  "  %i = phi i64 [ %n, %entry ], [ %less, %loop ]\n"
                                  "  %low = extractelement <4 x float> %w, i32 0\n"
                                  "  %more = fmul float %low, 3.0\n"
                                  "  %next = insertelement <4 x float> %w, float %more, i32 0\n"
                                  "  %at = getelementptr <4 x float>, ptr %p, i64 %i\n"
                                  "  store volatile <4 x float> %next, ptr %at\n"
                                  "  %less = sub i64 %i, 1\n"
                                  "  %last = icmp eq i64 %less, 0\n"
                                  "  br i1 %last, label %out, label %loop\n"
                                  "out:\n"
                                  "  ret <4 x float> %next\n"
                                  "}\n";

typedef double Pair __attribute__((vector_size(16)));
typedef float Four __attribute__((vector_size(16)));

static int failures;

static void check(bool ok, const char *what) {
    if (!ok)
        fprintf(stderr, "FAILED: %s\n", what);
    failures += !ok;
}

static LLVMModuleRef parse(LLVMContextRef ctx) {
    LLVMModuleRef mod = NULL;
    char *error = NULL;
    LLVMMemoryBufferRef text = LLVMCreateMemoryBufferWithMemoryRangeCopy(module_text, sizeof(module_text) - 1, "lanes");
    CHECK(!LLVMParseIRInContext(ctx, text, &mod, &error), "the test's module is wrong");
    return mod;
}

/* How many such instructions are in blocks that a phi begins with: in the loops, but for `scalar`'s end. */
static unsigned count(LLVMModuleRef mod, const char *function, LLVMOpcode opcode, bool of_vectors) {
    LLVMValueRef fn = LLVMGetNamedFunction(mod, function);
    unsigned found = 0;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(fn); b; b = LLVMGetNextBasicBlock(b)) {
        bool is_loop = LLVMGetInstructionOpcode(LLVMGetFirstInstruction(b)) == LLVMPHI &&
                       LLVMGetNumSuccessors(LLVMGetBasicBlockTerminator(b)) == 2;
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i && is_loop; i = LLVMGetNextInstruction(i))
            found += LLVMGetInstructionOpcode(i) == opcode &&
                     (!of_vectors || LLVMGetTypeKind(LLVMTypeOf(i)) == LLVMVectorTypeKind);
    }
    return found;
}

static void check_shape(LLVMModuleRef mod) {
    check(!count(mod, "scalar", LLVMInsertElement, false), "no insertion in the scalar loop");
    check(!count(mod, "scalar", LLVMExtractElement, false), "no extraction in the scalar loop");
    check(count(mod, "scalar", LLVMPHI, false) > 1, "the scalar loop is found");
    check(!count(mod, "later", LLVMInsertElement, false), "no insertion in a loop for what is behind it");
    check(count(mod, "packed", LLVMPHI, true) == 1, "a vector that is used in whole has one phi");
    check(count(mod, "packed", LLVMPHI, false) == 2, "and no other");
    check(count(mod, "beside", LLVMInsertElement, false) == 1, "a vector that is stored is put together once");
}

static void check_results(LatheJit *jit) {
    double (*scalar)(Pair, u64) = (double (*)(Pair, u64))(u64)lathe_jit_lookup(jit, "scalar");
    Pair (*later)(Pair, u64) = (Pair(*)(Pair, u64))(u64)lathe_jit_lookup(jit, "later");
    Pair (*packed)(Pair, u64) = (Pair(*)(Pair, u64))(u64)lathe_jit_lookup(jit, "packed");
    Four (*beside)(Four, Four *, u64) = (Four(*)(Four, Four *, u64))(u64)lathe_jit_lookup(jit, "beside");
    Four stored[4];
    Pair two = {2, 5}, after = later(two, 3), whole = packed(two, 2);
    Four four = beside((Four){1, 2, 3, 4}, stored, 3);
    check(scalar(two, 0) == 2 && scalar(two, 7) == 2 && scalar(two, 3) == 54, "results of scalar");
    check(after[0] == 54 && after[1] == 5, "results of later");
    check(whole[0] == 11 && whole[1] == 125, "results of packed");
    check(four[0] == 27 && four[3] == 4 && stored[3][0] == 3 && stored[1][0] == 27 && stored[2][2] == 3,
          "results of beside");
}

int main(void) {
    LLVMContextRef ctx = LLVMContextCreate();
    LatheJit *jit = lathe_jit_new(NULL);
    LLVMModuleRef mod = parse(ctx);
    CHECK(jit, "no memory for code");
    check(lathe_jit_optimize(jit, mod, LATHE_OPT_FULL) == LATHE_OK, "optimising");
    check_shape(mod);
    check(lathe_jit_add(jit, mod, LATHE_OPT_NONE) == LATHE_OK, "compiling");
    check_results(jit);
    lathe_jit_free(jit);
    LLVMContextDispose(ctx);
    return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
