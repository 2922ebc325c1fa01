/* rewriter.h: who makes specialised functions. */
#ifndef BINOPT_REWRITER_H
#define BINOPT_REWRITER_H

#include "binopt/config/config.h"

typedef struct Rewriter {
    const char *name;   /* as BINOPT_DRIVER has it */
    const char *driver; /* as binopt_driver returns it */
    /* What it keeps for one handle; NULL: it keeps nothing, or cannot work here. */
    void *(*open)(void);
    void (*close)(void *self);
    /* The new function, which lives as long as `self`; NULL: it cannot or would rather not, and has told config_refuse why. */
    BinoptFunc (*specialize)(void *self, const BinoptCfg *cfg);
    /* A function that it returned is no longer needed, once for each time it was returned; others are none of its business.
     * NULL: they stay until `close`. */
    void (*release)(void *self, BinoptFunc made);
    /* Why a function that it returned is still not more than the original's code, for a rewriter that goes on after it has returned:
     * a sentence of at most `size` bytes, or "". NULL: it does not go on. */
    void (*reason)(void *self, BinoptFunc made, char *text, size_t size);
    /* How long a function is that it made; NULL: it does not know. */
    size_t (*code_bytes)(void *self, BinoptFunc made);
} Rewriter;

extern const Rewriter rewriter_none, rewriter_trace, rewriter_function, rewriter_llvm, rewriter_tiered;

/* Those in this library, the default one first; ended by NULL. */
extern const Rewriter *const rewriters[];

/* Of a function that the handle made, for looking at it; 0: not known. */
size_t rewriter_code_bytes(BinoptHandle handle, BinoptFunc made);

#endif
