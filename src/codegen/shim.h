/* shim.h: what LLVM's C API lacks, as C functions: a code emitter and pass pipelines that stay alive between modules.
 * Building them anew costs about a millisecond per module, more than compiling a small function. */
#ifndef CODEGEN_SHIM_H
#define CODEGEN_SHIM_H

#include <stdbool.h>
#include <stddef.h>

#include <llvm-c/TargetMachine.h>

#include "codegen/pipeline.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Whether `cpu` ("": no question) and every name in the list `features` ("+a,-b") exist for this target. */
bool shim_target_knows(LLVMTargetMachineRef tm, const char *cpu, const char *features);

/* Emits object files; `tm` must outlive it. NULL if the target emits none. */
typedef struct ShimEmitter ShimEmitter;
ShimEmitter *shim_emitter_new(LLVMTargetMachineRef tm);
void shim_emitter_free(ShimEmitter *e);

/* Compiles the module, whose IR is changed by it. The object belongs to the emitter and lives until the next call. */
const void *shim_emitter_run(ShimEmitter *e, LLVMModuleRef mod, size_t *size);

/* `tm` must outlive it. NULL if LLVM does not understand the text. */
typedef struct ShimPasses ShimPasses;
ShimPasses *shim_passes_new(LLVMTargetMachineRef tm, const Pipeline *pipeline);
void shim_passes_free(ShimPasses *p);
void shim_passes_run(ShimPasses *p, LLVMModuleRef mod);
/* See lathe_jit_watch. */
void shim_passes_watch(ShimPasses *p, LatheStep *step, void *user);

#ifdef __cplusplus
}
#endif
#endif
