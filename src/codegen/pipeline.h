/* pipeline.h: which passes run at which level. */
#ifndef CODEGEN_PIPELINE_H
#define CODEGEN_PIPELINE_H

#include <lathe/lift.h>

typedef struct Pipeline {
    const char *passes; /* in LLVM's textual form, module level; NULL: none */
    bool vectorize, unroll;
} Pipeline;

/* NULL if there is no such level. */
const Pipeline *pipeline_of(LatheOpt level);

#endif
