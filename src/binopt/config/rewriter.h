/* rewriter.h: the interface of a rewriter, which makes specialised functions. */
#ifndef BINOPT_REWRITER_H
#define BINOPT_REWRITER_H

#include "binopt/config/config.h"

typedef struct Rewriter {
    const char *name;   /* its name in BINOPT_DRIVER */
    const char *driver; /* its name in the result of binopt_driver */
    /* Returns the rewriter's state for one handle; NULL: it needs none, or cannot work here. */
    void *(*open)(void);
    void (*close)(void *self);
    /* Returns the new function, which lives as long as `self`. NULL: it cannot make one, or nothing is gained;
     * config_refuse was told why. */
    BinoptFunc (*specialize)(void *self, const BinoptCfg *cfg);
    /* A function that it returned is no longer needed; called once for each time it was returned. Other functions are
     * ignored. NULL: functions stay until `close`. */
    void (*release)(void *self, BinoptFunc made);
    /* For a rewriter that continues to work after it has returned a function: writes why the function is still only the
     * original's code, in at most `size` bytes, or "". NULL: it does not continue. */
    void (*reason)(void *self, BinoptFunc made, char *text, size_t size);
    /* The size of a function that it made. NULL: it does not know. */
    size_t (*code_bytes)(void *self, BinoptFunc made);
} Rewriter;

extern const Rewriter rewriter_none, rewriter_trace, rewriter_function, rewriter_llvm, rewriter_tiered;

/* The rewriters in this library, the default one first, ended by NULL. */
extern const Rewriter *const rewriters[];

/* The size of a function that the handle made, for showing it; 0: not known. */
size_t rewriter_code_bytes(BinoptHandle handle, BinoptFunc made);

#endif
