/* region.h: what is worth optimised code. */
#ifndef RUN_CLIENT_QUICK_REGION_H
#define RUN_CLIENT_QUICK_REGION_H

#include "base/base.h"

/* The guest was found at pc: where does the code begin that should be optimised? 0: none should. */
u64 region_of(u64 pc);
/* What optimised code gains, in hundredths of the time that the guest is in it, and what a crossing between the tiers takes; verdict.c. */
u32 region_gain(void);
u32 region_crossing_ns(void);
/* How many times the price of its optimised code a place must have taken before that code is asked for; tier.c. */
u32 region_patience(void);

#endif
