/* region.h: what is worth optimised code. */
#ifndef RUN_CLIENT_QUICK_REGION_H
#define RUN_CLIENT_QUICK_REGION_H

#include "base/base.h"

/* The guest was found at pc: where does the code begin that should be optimised? 0: none should. */
u64 region_of(u64 pc);
/* How many crossings between the tiers in a millisecond are no gain any more. */
u32 region_crossings(void);
/* How many times the price of its optimised code a place must have taken before that code is asked for; tier.c. */
u32 region_patience(void);

#endif
