/* estimate.h: how long machine code takes, roughly: for comparing two versions of one function. */
#ifndef BINOPT_LLVM_ESTIMATE_H
#define BINOPT_LLVM_ESTIMATE_H

#include "base/base.h"

typedef struct Estimate {
    u64 cost; /* of one call, if each loop runs ten times */
    u32 loops;
    bool unread;     /* it has instructions that the lifter does not know, as AVX has: the rest says nothing */
    bool incomplete; /* not all of the code was found: it has computed jumps */
} Estimate;

Estimate estimate_code(u64 pc);

#endif
