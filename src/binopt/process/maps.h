/* maps.h: which memory this process has, at one moment: a snapshot of /proc/self/maps, and reading that never faults. */
#ifndef BINOPT_MAPS_H
#define BINOPT_MAPS_H

#include "base/base.h"

typedef struct Mapping {
    u64 start, end;
    bool read, write, exec, shared;
} Mapping;

typedef struct Maps {
    VEC(Mapping) list; /* by address */
} Maps;

/* Empty if the system does not tell. */
void maps_init(Maps *m);
void maps_free(Maps *m);

/* The mapping that has addr, or NULL. */
const Mapping *maps_find(const Maps *m, u64 addr);

/* Are the bytes there readable, and does no store of this process change them? What another process may write to is no
 * constant either, but code is. */
bool maps_constant(const Maps *m, u64 addr, u64 size);

/* Reads memory of this process; how many bytes could be read. */
size_t maps_read(u64 addr, void *buf, size_t size);

#endif
