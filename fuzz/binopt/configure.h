/* configure.h: configurations with any number of parameters, of any type or none. */
#ifndef FUZZ_BINOPT_CONFIGURE_H
#define FUZZ_BINOPT_CONFIGURE_H

#include <binopt.h>

#include "random.h"

enum { CONFIGURE_MAX = 80 };

/* binopt_cfg_type with an array. */
void configure_type(BinoptCfgRef cfg, u32 count, BinoptType ret, const BinoptType types[CONFIGURE_MAX]);

/* Anything that can be said about a function, be it true or not. */
void configure_randomly(Rng *r, BinoptCfgRef cfg);

/* An address that is likely to be special in some way; `start` and `bytes` are memory of which some are. */
u64 configure_address(Rng *r, u64 start, u64 bytes);

#endif
