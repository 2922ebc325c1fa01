/* target.c: see target.h. */
#include "codegen/target.h"

#include "base/base.h"
#include "codegen/shim.h"

#include <llvm-c/Core.h>
#include <llvm-c/Target.h>

#include <pthread.h>

static pthread_once_t once = PTHREAD_ONCE_INIT, once_for_others = PTHREAD_ONCE_INIT;

static void init_llvm(void) {
    LLVMInitializeNativeTarget();
    LLVMInitializeNativeAsmPrinter();
    LLVMInitializeNativeAsmParser(); /* inline assembly */
}

static void init_all_of_llvm(void) {
    LLVMInitializeAllTargetInfos();
    LLVMInitializeAllTargets();
    LLVMInitializeAllTargetMCs();
    LLVMInitializeAllAsmPrinters();
    LLVMInitializeAllAsmParsers();
}

static bool is_own(const Host *host) {
    return host == host_own();
}

/* Malloc'ed. */
static char *triple_of(const Host *host) {
    return is_own(host) ? LLVMGetDefaultTargetTriple() : LLVMCreateMessage(host->triple);
}

static LLVMTargetMachineRef create(const Host *host, const char *cpu, const char *features, LLVMCodeGenOptLevel level) {
    char *triple = triple_of(host);
    LLVMTargetRef target;
    char *error = NULL;
    CHECK(!LLVMGetTargetFromTriple(triple, &target, &error), "LLVM has no back end for the host");
    LLVMTargetMachineRef tm =
        LLVMCreateTargetMachine(target, triple, cpu, features, level, LLVMRelocPIC, LLVMCodeModelSmall);
    CHECK(tm, "LLVM made no target machine for the host");
    LLVMDisposeMessage(triple);
    return tm;
}

/* LLVM prints a warning for an unknown name and goes on; a library must neither print nor guess. */
static bool names_known(const Host *host, const char *cpu, const char *features) {
    LLVMTargetMachineRef plain = create(host, "", "", LLVMCodeGenLevelNone);
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
    char *some = join(all, host_own()->left_out);
    LLVMDisposeMessage(all);
    return some;
}

/* Without a name it is this machine, if that is meant, and else what every machine of the kind has. */
static void choose_cpu(Target *t, LatheHost id, const char *cpu, const char *features, const char *ours) {
    bool this = id == LATHE_HOST_OWN && !cpu;
    t->cpu = this ? host_cpu() : join(cpu ? cpu : t->host->common_cpu, "");
    char *named = features ? join(features, "") : this ? host_features() : join("", "");
    t->features = join(named, *named ? ours : ours + (*ours == ','));
    mem_free(named);
}

bool target_init(Target *t, LatheHost id, const char *cpu, const char *features, bool low_vectors) {
    t->host = host_find(id);
    if (!t->host)
        return false;
    pthread_once(&once, init_llvm);
    if (!is_own(t->host))
        pthread_once(&once_for_others, init_all_of_llvm);
    if ((cpu || features) && !names_known(t->host, cpu ? cpu : "", features ? features : ""))
        return false;
    char *ours = join(t->host->least_features, low_vectors ? t->host->low_features : "");
    choose_cpu(t, id, cpu, features, ours);
    mem_free(ours);
    return true;
}

void target_free(Target *t) {
    mem_free(t->cpu);
    mem_free(t->features);
}

LLVMTargetMachineRef target_machine_new(const Target *t, LLVMCodeGenOptLevel level) {
    return create(t->host, t->cpu, t->features, level);
}

const char *target_common_cpu(void) {
    return host_own()->common_cpu;
}
