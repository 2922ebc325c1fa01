/* accesses.h: places in optimised code at which an access to the guest's memory may fault, and the exits at which the code goes on then, with the
 * guest's state in whole. */
#ifndef RUN_CLIENT_ACCESSES_H
#define RUN_CLIENT_ACCESSES_H

#include "run/client/code/arena/arena.h"

/* A section of an object, where it was placed. */
typedef struct AccessesPart {
    u64 at, bytes;
} AccessesPart;
/* Notes the code in [start, end), which lies behind all code so far: its accesses with an exit (section LATHE_FAULTS), and those of a tool's
 * functions (TOOL_ACCESSES). Under the arena's lock. */
void accesses_add(u64 start, u64 end, AccessesPart rows, AccessesPart tools);
/* All code is forgotten, and no thread is in it. */
void accesses_forget_all(void);
/* For an image: the list of all code with such places. */
ImagePart accesses_export(void);
void accesses_import(const ImagePart *part);
/* The exit of the access at this host address; 0: there is no such access. May be called in handlers of signals. */
u64 accesses_find_exit(u64 host);
/* True if the instruction at this host address is an access by a tool's function. Likewise. */
bool accesses_is_by_tool(u64 host);

#endif
