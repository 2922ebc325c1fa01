/* target.c: see target.h. */
#include "codegen/target.h"

#include "base/base.h"
#include "codegen/shim.h"

#include <llvm-c/Core.h>
#include <llvm-c/Target.h>

#include <pthread.h>

/* Applied after the host's features, so that these win. LLVM drops everything that builds on avx512f with it. With
 * AVX-512, code generation takes 17% longer (domain reassignment) and lifted code gains nothing from it. */
#define WITHOUT_AVX512 ",-avx512f,-evex512"

/* Instructions in VEX form clear what they do not write; older forms leave it alone, and are as fast. */
#ifdef __x86_64__
#define LOW_VECTORS ",-avx"
#else
#define LOW_VECTORS ""
#endif

/* Applied to every x86 target: meanings of guest instructions use LLVM's intrinsics up to here, and one that the target
 * lacks would end the process at instruction selection. */
#ifdef __x86_64__
#define LEAST_FEATURES ",+sse4.2,+crc32,+popcnt,+cx16"
#else
#define LEAST_FEATURES ""
#endif

#ifdef __x86_64__
#define COMMON_CPU "x86-64-v2"
#else
#define COMMON_CPU "generic"
#endif

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void init_llvm(void) {
    LLVMInitializeNativeTarget();
    LLVMInitializeNativeAsmPrinter();
    LLVMInitializeNativeAsmParser(); /* inline assembly */
}

static LLVMTargetMachineRef create(const char *cpu, const char *features, LLVMCodeGenOptLevel level) {
    char *triple = LLVMGetDefaultTargetTriple();
    LLVMTargetRef target;
    char *error = NULL;
    CHECK(!LLVMGetTargetFromTriple(triple, &target, &error), "LLVM has no back end for the machine it runs on");
    LLVMTargetMachineRef tm =
        LLVMCreateTargetMachine(target, triple, cpu, features, level, LLVMRelocPIC, LLVMCodeModelSmall);
    CHECK(tm, "LLVM made no target machine for the machine it runs on");
    LLVMDisposeMessage(triple);
    return tm;
}

/* LLVM prints a warning for an unknown name and goes on; a library must neither print nor guess. */
static bool names_known(const char *cpu, const char *features) {
    LLVMTargetMachineRef plain = create("", "", LLVMCodeGenLevelNone);
    bool known = shim_target_knows(plain, cpu, features);
    LLVMDisposeTargetMachine(plain);
    return known;
}

static char *join(const char *a, const char *b) {
    char *text = mem_new(strlen(a) + strlen(b) + 1);
    strcpy(text, a);
    return strcat(text, b);
}

static char *host_cpu(void) {
    char *name = LLVMGetHostCPUName();
    char *copy = join(name, "");
    LLVMDisposeMessage(name);
    return copy;
}

static char *host_features(void) {
    char *all = LLVMGetHostCPUFeatures();
    char *some = join(all, WITHOUT_AVX512);
    LLVMDisposeMessage(all);
    return some;
}

bool target_init(Target *t, const char *cpu, const char *features, bool low_vectors) {
    const char *ours = low_vectors ? LEAST_FEATURES LOW_VECTORS : LEAST_FEATURES;
    pthread_once(&once, init_llvm);
    if ((cpu || features) && !names_known(cpu ? cpu : "", features ? features : ""))
        return false;
    t->cpu = cpu ? join(cpu, "") : host_cpu();
    char *named = features ? join(features, "") : cpu ? join("", "") : host_features();
    t->features = join(named, *named ? ours : ours + (*ours == ','));
    mem_free(named);
    return true;
}

void target_free(Target *t) {
    mem_free(t->cpu);
    mem_free(t->features);
}

LLVMTargetMachineRef target_machine_new(const Target *t, LLVMCodeGenOptLevel level) {
    return create(t->cpu, t->features, level);
}

const char *target_common_cpu(void) {
    return COMMON_CPU;
}
