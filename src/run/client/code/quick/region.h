/* region.h: what is worth optimised code. Each maker of quick code has its own answers (copy_region.c, stencil_region.c). */
#ifndef RUN_CLIENT_QUICK_REGION_H
#define RUN_CLIENT_QUICK_REGION_H

#include "base/base.h"

/* A sample has found the guest at pc. Returns where the code begins that should be optimised for that; 0: none should. */
u64 region_of(u64 pc);
/* For verdict.c: what optimised code gains, in hundredths of the time that the guest is in it; and what a crossing between the tiers takes. */
u32 region_gain(void);
u32 region_crossing_ns(void);
/* How many times the price of its optimised code a place must have taken before that code is asked for; tier.c. */
u32 region_patience(void);

#endif
