/* map.h: the host address of guest code, by its guest address.
 *
 * Returns, computed calls and computed jumps find their target by one load: for each guest address in front of the code arena the map has four bytes,
 * the lower half of a host address whose upper half is zero (space.h: LOW_MAP), or zero, if nobody has asked for it yet. Addresses behind that, of
 * which there are few (code that is made at run time), are in the tables of threads. The map's pages are there as far as there is code.
 *
 * What is in the map is code that first gives the guest back the register in which the target came: see emit_entry. Whoever writes to it holds the arena's
 * lock; threads read it at any time. */
#ifndef RUN_CLIENT_QUICK_MAP_H
#define RUN_CLIENT_QUICK_MAP_H

#include "run/client/core/client.h"
#include "run/client/memory/space.h"

/* Is the target looked up in the map? */
static inline bool map_covers(u64 pc) {
    return the.map && pc < LOW_CODE;
}

void map_set(u64 pc, const u8 *entry);
void map_clear(u64 pc);
void map_forget_all(void);
/* For images: the addresses that were put in, and what is there now; 0: nothing. */
const u32 *map_noted(u64 *count);
u32 map_entry(u64 pc);

#endif
