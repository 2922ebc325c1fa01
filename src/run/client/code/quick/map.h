/* map.h: the host address of guest code, by its guest address.
 *
 * Returns, computed calls and computed jumps find their target by one load: for each guest address in front of the code arena the map has four bytes,
 * the lower half of a host address whose upper half is zero (space.h: LOW_MAP), or zero, if nobody has asked for it yet. Addresses behind that, of
 * which there are few (code that is made at run time), are in the tables of threads. The map's pages are there as far as there is code.
 *
 * Where the target comes in a register of the guest's, what is in the map is code that first gives that back: see emit_entry. Whoever writes to it holds the arena's
 * lock; threads read it at any time. */
#ifndef RUN_CLIENT_QUICK_MAP_H
#define RUN_CLIENT_QUICK_MAP_H

#include "run/client/code/quick/blocks.h"
#include "run/client/core/client.h"
#include "run/client/memory/space.h"

/* Is the target looked up in the map? */
static inline bool map_covers(u64 pc) {
    return the.map && pc < LOW_CODE;
}

void map_set(u64 pc, const u8 *entry);
void map_clear(u64 pc);
void map_forget_all(void);
/* Does it take so much memory that it is better begun anew, with all code? */
bool map_is_large(void);

/* For images: pages of the map that lie side by side and have had entries. An image has the pages themselves, as they are. Its file has holes where the pages
 * between two runs would be, so that the next process maps many runs at once, and pays for those pages only that it looks into. */
typedef struct MapRun {
    u32 first, count; /* pages of the map */
    u64 off;          /* where they are in the image's bytes of the map */
} MapRun;
/* All of them in order, in memory that array_extend has made. */
Array map_runs(void);
/* How many of the image's bytes belong to the map. */
u64 map_runs_size(const MapRun *runs, u64 count);
/* False if a list that comes from a file cannot be such a list, or needs more than `size` bytes. */
bool map_runs_fit(const MapRun *runs, u64 count, u64 size);
/* Maps them from a file whose bytes of the map begin at `off`. */
void map_import(const MapRun *runs, u64 count, int fd, u64 off);
const u8 *map_run_at(const MapRun *run);

#endif
