/* inline.h: functions that are marked to be inlined, put in the place of their calls. */
#ifndef CODEGEN_INLINE_H
#define CODEGEN_INLINE_H

#include <llvm-c/Core.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Puts the body of each internal function marked `alwaysinline` in the place of all of its direct calls, and deletes it if nobody uses it then.
 * LLVM's pass always-inline does the same, but analyses the calling function anew for each call: in a function of a thousand calls that takes minutes. */
void inline_marked(LLVMModuleRef mod);

/* For a function that calls itself by a declaration of another name: puts its own body in the place of these calls, and again in the place of
 * those that this brought, `levels` times. */
void inline_itself(LLVMValueRef fn, LLVMValueRef declared, unsigned levels);

#ifdef __cplusplus
}
#endif
#endif
