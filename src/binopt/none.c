/* none.c: the rewriter that changes nothing. */
#include "binopt/config/rewriter.h"

static void *open_none(void) {
    return NULL;
}

static void close_none(void *self) {
    (void)self;
}

static BinoptFunc keep(void *self, const BinoptCfg *cfg) {
    (void)self;
    config_refuse(cfg, "this rewriter changes nothing");
    return NULL;
}

const Rewriter rewriter_none = {
    .name = "none", .driver = "Default (no rewriting)", .open = open_none, .close = close_none, .specialize = keep};
