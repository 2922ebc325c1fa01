/* none.c: the rewriter that changes nothing. */
#include "binopt/rewriter.h"

static void *open_none(void) {
    return NULL;
}

static void close_none(void *self) {
    (void)self;
}

static BinoptFunc keep(void *self, const BinoptCfg *cfg) {
    (void)self;
    (void)cfg;
    return NULL;
}

const Rewriter rewriter_none = {"none", "Default (no rewriting)", open_none, close_none, keep};
