/* sites.h: places in optimised code at which the guest's accesses to memory may fault, and where that goes on: with the state in whole. */
#ifndef RUN_CLIENT_SITES_H
#define RUN_CLIENT_SITES_H

#include "run/client/code/arena/arena.h"

/* Code in [start, end), which is behind all code so far, has these rows (LATHE_FAULTS). Under the arena's lock. */
void sites_add(u64 start, u64 end, u64 rows, u64 bytes);
/* There is no code any more, and no thread in it: its memory is used again. */
void sites_forget_all(void);
/* All of them for another process, which has the same code at the same addresses, and back. */
ImagePart sites_export(void);
void sites_import(const ImagePart *part);
/* Where the access at this host address goes on when it faults; 0: it is none. From handlers of signals. */
u64 sites_find(u64 host);

#endif
