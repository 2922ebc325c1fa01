/* once.h: a tool's functions that are called once at each place (LatheWhere.once), in optimised code. Objects have a section with a flag for each
 * place, which says whether they were called (TOOL_ONCE_SECTION). All functions here are called with the arena's lock held. */
#ifndef RUN_CLIENT_ONCE_H
#define RUN_CLIENT_ONCE_H

#include "base/base.h"

/* Notes the section of an object that was linked. */
void once_add(u8 *at, u64 bytes);
/* In the child of fork: nothing was called yet. */
void once_after_fork(void);
/* All objects are gone. */
void once_forget_all(void);

#endif
