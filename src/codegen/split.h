/* split.h: one module as several, so that several threads can optimise and compile it. */
#ifndef CODEGEN_SPLIT_H
#define CODEGEN_SPLIT_H

#include <llvm-c/Core.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Makes `count` modules as bitcode, each in a buffer that the caller disposes of. Functions are dealt out in their order, so that each module has as many
 * instructions as another; variables and the module's assembly go to the first. What was internal becomes hidden, also in `mod`: what is linked
 * together in the end must have all of them. */
void split_module(LLVMModuleRef mod, unsigned count, LLVMMemoryBufferRef *parts);

#ifdef __cplusplus
}
#endif
#endif
