/* sites.h: places in optimised code at which the guest's accesses to memory may fault, and where that goes on: with the state in whole. */
#ifndef RUN_CLIENT_SITES_H
#define RUN_CLIENT_SITES_H

#include "base/base.h"

/* Code in [start, end), which is behind all code so far, has these rows (LATHE_FAULTS). Under the arena's lock. */
void sites_add(u64 start, u64 end, u64 rows, u64 bytes);
/* Where the access at this host address goes on when it faults; 0: it is none. From handlers of signals. */
u64 sites_find(u64 host);

#endif
