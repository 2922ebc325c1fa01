/* flatten.h: two loops of which the inner one goes on where it was left become one. */
#ifndef CODEGEN_FLATTEN_H
#define CODEGEN_FLATTEN_H

#include <stdbool.h>

#include <llvm-c/Core.h>

#ifdef __cplusplus
extern "C" {
#endif

/* for (x…) for (c < 3) out[3 * x + c] = …in[3 * x + c + 9]… is one loop over 3 * x + c, if that is all that x and c are used
 * for; as such it can be vectorised in one piece, where the inner one is too short, or would be unrolled. If `may_wait`, loops that
 * look like it but are not understood yet are kept from being unrolled until the next call. True if anything was changed. */
bool flatten_loops(LLVMValueRef function, bool may_wait);

#ifdef __cplusplus
}
#endif
#endif
