/* subtracting.h: the smallest thing to specialise, for tests of everything around that. */
#ifndef TESTS_BINOPT_SUBTRACTING_H
#define TESTS_BINOPT_SUBTRACTING_H

#include <binopt.h>

#include "subjects.h"

typedef __typeof__(&subtract) Subtract;

static inline Subtract make(BinoptHandle handle, int by) {
    BinoptCfgRef cfg = binopt_cfg_new(handle, (BinoptFunc)subtract);
    binopt_cfg_type(cfg, 2, BINOPT_TY_INT32, BINOPT_TY_INT32, BINOPT_TY_INT32);
    binopt_cfg_set_parami(cfg, 1, (size_t)by);
    Subtract made = (Subtract)binopt_spec_create(cfg);
    binopt_cfg_free(cfg);
    return made;
}

#endif
