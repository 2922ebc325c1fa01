/* pipeline.h: which passes run at which level. */
#ifndef CODEGEN_PIPELINE_H
#define CODEGEN_PIPELINE_H

#include <lathe/lift.h>

/* Levels beside the public ones, for code that is being specialised or translated. */
enum {
    OPT_SCALAR = LATHE_OPT_MAX + 1, /* inlining and scalars, again and again, */
    OPT_UNROLL,                     /* between which loops of known length are unrolled, and nothing else, */
    OPT_VECTOR,                     /* and in the end O3 with vectorisation, without unrolling */
    OPT_INLINE, /* puts functions that are marked for it in the place of their calls, and does nothing else */
    OPT_SIZE,   /* Os, for functions that are marked `optsize` */
    OPT_LOOPS,  /* LATHE_OPT_FULL with vectorised loops */
    OPT_COPIES, /* LATHE_OPT_FULL with unrolled loops */
    OPT_LEVELS,
};

typedef struct Pipeline {
    const char *passes; /* in LLVM's textual form, module level; NULL: none */
    bool vectorize;     /* loops */
    bool pack;          /* scalars that are computed in the same way become vectors */
    bool unroll;
    bool rounds; /* loops whose number of rounds is a constant do several at once; needs no `unroll` */
} Pipeline;

/* NULL if there is no such level. */
const Pipeline *pipeline_of(LatheOpt level);

#endif
