/* sites.h: places in optimised code at which the guest's accesses to memory may fault, and where that goes on: with the state in whole. */
#ifndef RUN_CLIENT_SITES_H
#define RUN_CLIENT_SITES_H

#include "run/client/code/arena/arena.h"

/* A section of an object, where it was placed. */
typedef struct SitesPart {
    u64 at, bytes;
} SitesPart;
/* Code in [start, end), which is behind all code so far, has these rows (LATHE_FAULTS), and these accesses of a tool's (TOOL_ACCESSES). Under the arena's lock. */
void sites_add(u64 start, u64 end, SitesPart rows, SitesPart tools);
/* There is no code any more, and no thread in it: its memory is used again. */
void sites_forget_all(void);
/* All of them for another process, which has the same code at the same addresses, and back. */
ImagePart sites_export(void);
void sites_import(const ImagePart *part);
/* Where the access at this host address goes on when it faults; 0: it is none. From handlers of signals. */
u64 sites_find(u64 host);
/* Is the access at this host address one of a tool's function? Likewise. */
bool sites_is_tools(u64 host);

#endif
