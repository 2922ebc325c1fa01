/* memory.h: the guest's memory as a debugger sees it: breakpoints are written into it and not shown, and some of it is watched. */
#ifndef RUN_CLIENT_DEBUG_MEMORY_H
#define RUN_CLIENT_DEBUG_MEMORY_H

#include "run/client/core/client.h"

/* Returns the number of bytes that could be read. */
size_t memory_read(u64 addr, u8 *bytes, size_t size);
/* False: there is no memory there. What the guest may not write, the debugger may. */
bool memory_write(u64 addr, const u8 *bytes, size_t size);

/* In place of an instruction of `kind` bytes. False: there is no room for one more, or no memory there. */
bool breakpoint_insert(u64 addr, u32 kind);
bool breakpoint_remove(u64 addr);
bool breakpoint_is_at(u64 addr);
/* Takes one away from the memory, until all of these are put back. */
void breakpoint_lift(u64 addr);
void breakpoint_put_back_all(void);
void breakpoint_remove_all(void);

/* Memory whose value is compared after each instruction. */
bool watch_add(u64 addr, u32 size);
bool watch_remove(u64 addr, u32 size);
bool watch_is_on(void);
void watch_remove_all(void);
/* The address of memory that has changed since the last look; 0: none has. Also in a handler of signals. */
u64 watch_look(void);

#endif
