/* once.h: what optimised code has called once (LatheWhere.once), by the sections of objects that say so (TOOL_ONCE_SECTION). Under the arena's lock. */
#ifndef RUN_CLIENT_ONCE_H
#define RUN_CLIENT_ONCE_H

#include "base/base.h"

/* An object has been placed. */
void once_add(u8 *at, u64 bytes);
/* In a copy of the program, nothing was called yet. */
void once_after_fork(void);
/* All objects are gone. */
void once_forget_all(void);

#endif
