/* loops.h: loops of which it is known from outside that unrolling pays. */
#ifndef CODEGEN_LOOPS_H
#define CODEGEN_LOOPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <llvm-c/Core.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Will loads at addresses that begin with base + offset be gone once they stand outside loops? */
typedef bool LoopsFolding(void *user, LLVMValueRef base, int64_t offset);

typedef struct LoopsFound {
    unsigned count;
    unsigned marked; /* of them, that had not been before */
} LoopsFound;

/* Marks loops of a known number of rounds that have such a load, at an address that changes from round to round: pipelines
 * then unroll them whole. The instructions that the function grows by are taken from `budget`. */
LoopsFound loops_mark(LLVMValueRef function, size_t *budget, LoopsFolding *folding, void *user);

#ifdef __cplusplus
}
#endif
#endif
