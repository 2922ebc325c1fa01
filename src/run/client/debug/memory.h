/* memory.h: the guest's memory as a debugger sees it: reading does not show breakpoints, writing does not remove them, and changes of watched memory
 * are found. */
#ifndef RUN_CLIENT_DEBUG_MEMORY_H
#define RUN_CLIENT_DEBUG_MEMORY_H

#include "run/client/core/client.h"

/* Returns the number of bytes that could be read. */
size_t memory_read(u64 addr, u8 *bytes, size_t size);
/* Writes even where the guest may not. Returns false if there is no memory. */
bool memory_write(u64 addr, const u8 *bytes, size_t size);

/* Puts a breakpoint in place of an instruction of `kind` bytes. Returns false if there are too many, or no memory there. */
bool breakpoint_insert(u64 addr, u32 kind);
bool breakpoint_remove(u64 addr);
bool breakpoint_is_at(u64 addr);
/* Takes a breakpoint out of the memory until breakpoint_put_back_all, for a process that shares the memory and is not debugged. */
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
