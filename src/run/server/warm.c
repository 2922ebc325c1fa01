/* warm.c: a function is lifted, optimised and emitted before there is a client: loading LLVM and the first use of each
 * of its parts take longer than most functions do. */
#include <llvm-c/Core.h>
#include <stdlib.h>

#include "run/server/server.h"

/* A loop over memory, a call and vector arithmetic. */
// clang-format off
static const u8 sample[] = {
    0x31, 0xc0,                   /* xor eax, eax */
    0x03, 0x07,                   /* add eax, [rdi] */
    0x66, 0x0f, 0xfe, 0xc1,       /* paddd xmm0, xmm1 */
    0x48, 0x83, 0xc7, 0x04,       /* add rdi, 4 */
    0x48, 0x39, 0xf7,             /* cmp rdi, rsi */
    0x72, 0xf1,                   /* jb to the first add */
    0xff, 0xd2,                   /* call rdx */
    0xc3,                         /* ret */
};
// clang-format on

static LLVMModuleRef lift_sample(LLVMContextRef ctx) {
    LLVMModuleRef mod = LLVMModuleCreateWithNameInContext("warm", ctx);
    LatheConfig config = {.convention = LATHE_CONVENTION_REGISTERS, .calls = LATHE_CALLS_RETURN};
    config.dispatch = lathe_declare(mod, &config, SYMBOL_MISS);
    config.lookup = lookup_build(mod, &config);
    LatheFunc *fn = lathe_func_new(mod, &config);
    if (lathe_func_decode_cfg(fn, (u64)sample) == LATHE_OK)
        lathe_func_lift(fn, "sample");
    lathe_func_free(fn);
    return mod;
}

LatheJit *warm_jit_new(void) {
    LLVMContextRef ctx = LLVMContextCreate();
    LatheJit *jit = translator_jit_new(NULL, true);
    LLVMModuleRef mod = lift_sample(ctx);
    void *object = NULL;
    size_t size;
    if (lathe_jit_optimize(jit, mod, LATHE_OPT_FULL) == LATHE_OK)
        lathe_jit_emit(jit, mod, LATHE_OPT_NONE, false, &object, &size);
    free(object);
    LLVMDisposeModule(mod);
    LLVMContextDispose(ctx);
    return jit;
}
