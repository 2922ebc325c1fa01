/* maps.h: a snapshot of the memory mappings of this process (/proc/self/maps), and reading that never faults. */
#ifndef BINOPT_MAPS_H
#define BINOPT_MAPS_H

#include "base/base.h"

typedef struct Mapping {
    u64 start, end;
    bool read, write, exec, shared;
} Mapping;

typedef struct Maps {
    VEC(Mapping) list; /* sorted by address */
} Maps;

/* The snapshot is empty if the system does not provide it. */
void maps_init(Maps *m);
void maps_free(Maps *m);

/* The mapping that contains addr, or NULL. */
const Mapping *maps_find(const Maps *m, u64 addr);

/* True if the bytes are readable and no store of this process changes them. Memory that another process may write to is
 * not constant either, except for code. */
bool maps_constant(const Maps *m, u64 addr, u64 size);

/* Reads memory of this process and returns how many bytes could be read. */
size_t maps_read(u64 addr, void *buf, size_t size);

#endif
