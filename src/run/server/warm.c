/* warm.c: lifts, optimises and emits a function of each kind of guest before there is a client, because loading LLVM
 * and the first use of each of its parts take longer than most functions do. */
#include <llvm-c/Core.h>
#include <stdlib.h>

#include "isa/isa.h"
#include "run/server/server.h"

static LLVMModuleRef lift_sample(LLVMContextRef ctx, const Isa *isa) {
    LLVMModuleRef mod = LLVMModuleCreateWithNameInContext("warm", ctx);
    LatheTuning tuning = {.convention = LATHE_CONVENTION_REGISTERS};
    LatheConfig config = {.arch = isa->arch, .calls = LATHE_CALLS_RETURN, .tuning = &tuning};
    config.dispatch = lathe_declare(mod, &config, SYMBOL_MISS);
    config.lookup = lookup_build(mod, &config);
    LatheFunc *fn = lathe_func_new(mod, &config);
    if (lathe_func_decode_cfg(fn, (u64)isa->sample) == LATHE_OK)
        lathe_func_lift(fn, "sample");
    lathe_func_free(fn);
    return mod;
}

static void warm(LatheJit *jit, const Isa *isa) {
    LLVMContextRef ctx = LLVMContextCreate();
    LLVMModuleRef mod = lift_sample(ctx, isa);
    void *object = NULL;
    size_t size;
    if (lathe_jit_optimize(jit, mod, LATHE_OPT_FULL) == LATHE_OK)
        lathe_jit_emit(jit, mod, LATHE_OPT_NONE, false, &object, &size);
    free(object);
    LLVMDisposeModule(mod);
    LLVMContextDispose(ctx);
}

void warm_jits_new(LatheJit *jits[2]) {
    const Isa *isa, *host = isa_of_host();
    for (int low = 0; low < 2; low++)
        jits[low] = translator_jit_new(LATHE_HOST_OWN, NULL, low);
    for (u32 arch = 0; (isa = isa_find((LatheArch)arch)); arch++)
        warm(jits[isa == host], isa);
}
