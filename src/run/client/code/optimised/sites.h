/* sites.h: places in optimised code at which an access to the guest's memory may fault, and the exits at which the code goes on then, with the guest's state in whole. */
#ifndef RUN_CLIENT_SITES_H
#define RUN_CLIENT_SITES_H

#include "run/client/code/arena/arena.h"

/* A section of an object, where it was placed. */
typedef struct SitesPart {
    u64 at, bytes;
} SitesPart;
/* Notes the code in [start, end), which lies behind all code so far: its accesses with an exit (section LATHE_FAULTS), and those of a tool's functions (TOOL_ACCESSES). Under the arena's lock. */
void sites_add(u64 start, u64 end, SitesPart rows, SitesPart tools);
/* All code is forgotten, and no thread is in it. */
void sites_forget_all(void);
/* For an image: the list of all code with such places. */
ImagePart sites_export(void);
void sites_import(const ImagePart *part);
/* The exit of the access at this host address; 0: there is no such access. May be called in handlers of signals. */
u64 sites_find(u64 host);
/* True if the instruction at this host address is an access by a tool's function. Likewise. */
bool sites_is_tools(u64 host);

#endif
