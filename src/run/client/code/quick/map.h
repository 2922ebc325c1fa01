/* map.h: the host address of guest code, by its guest address.
 *
 * Returns, computed calls and computed jumps find their target by one load: for each guest address in front of the code arena the map has four bytes,
 * the lower half of a host address whose upper half is zero (space.h: LOW_MAP), or zero, if nobody has asked for it yet. Addresses behind that, of
 * which there are few (code that is made at run time), are in the tables of threads. The map's pages are there as far as there is code.
 *
 * If the jump needs a register of the guest's for that, the map leads to code that first gives the register back: see emit_entry. Whoever writes to
 * the map holds the arena's lock; threads read it at any time. */
#ifndef RUN_CLIENT_QUICK_MAP_H
#define RUN_CLIENT_QUICK_MAP_H

#include "run/client/code/quick/blocks.h"
#include "run/client/core/client.h"
#include "run/client/memory/space.h"

/* True if the map has a word for this address. */
static inline bool map_covers(u64 pc) {
    return the.map && pc < LOW_CODE;
}

void map_set(u64 pc, const u8 *entry);
void map_clear(u64 pc);
void map_forget_all(void);
/* True if the map takes so much memory that all code should be begun anew, with an empty map. */
bool map_is_large(void);

/* For images: pages of the map that lie side by side and have had entries. An image has the pages themselves, as they are. Its file has holes where the pages
 * between two runs would be, so that the next process maps many runs at once, and pays for those pages only that it looks into. */
typedef struct MapRun {
    u32 first, count; /* pages of the map */
    u64 off;          /* where they are in the image's bytes of the map */
} MapRun;
/* All runs, in the order of their addresses; the caller frees the array. */
Array map_runs(void);
/* How many bytes these runs take in the file, with the holes between them. */
u64 map_runs_size(const MapRun *runs, u64 count);
/* Checks a list that comes from a file. Returns false if it is damaged or needs more than `size` bytes of the file. */
bool map_runs_fit(const MapRun *runs, u64 count, u64 size);
/* Maps the runs from a file, whose part for the map begins at `off`. */
void map_import(const MapRun *runs, u64 count, int fd, u64 off);
const u8 *map_run_at(const MapRun *run);

#endif
