/* space_table.h: the table of the guest's memory, for the files that change it: space.c, mapping.c, brk.c, modules.c and block.c. All others include space.h.
 * Whoever calls one of these functions holds the table's lock. */
#ifndef RUN_CLIENT_SPACE_TABLE_H
#define RUN_CLIENT_SPACE_TABLE_H

#include "run/client/memory/ranges.h"
#include "run/client/memory/space.h"

#define NO_ACCESS_FLAGS (MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE)

enum {
    GUEST_RANGES = 1 << 17, /* twice the kernel's usual limit of mappings */
    SPARE_RANGES = 1 << 10, /* entries kept for changes that must not fail */
    OWN_RANGES = 1 << 7,
    TABLES_SIZE = 8 << 20,
    MODULE_SIZE_MAX = 512 << 20, /* larger files would take up half of the window */
};

typedef struct Space {
    u32 lock;
    Ranges guest; /* value: PROT_* as the guest asked for, and SPACE_SHARED */
    Ranges own;   /* the client's memory; the values are 0 */
    struct {
        u64 dev, ino;
    } file[MODULES_MAX]; /* belongs to the.memory.modules at the same index */
    Range guest_ranges[GUEST_RANGES];
    Range own_ranges[OWN_RANGES];
} Space;

_Static_assert(sizeof(Space) <= TABLES_SIZE, "the tables lie in front of the window");

Space *space_table(void);
/* True if the table has room only for changes that must not fail. */
bool space_is_full(void);

/* The protection that the host has for what the guest asked for: nothing of the guest's is executable. */
static inline u32 space_host_prot(u32 prot) {
    return prot & PROT_EXEC ? (prot & ~(u32)PROT_EXEC) | PROT_READ : prot;
}

/* The protection in a value of the table. */
static inline u32 space_prot_of(u32 value) {
    return value & ~(u32)SPACE_SHARED;
}

/* Takes access away from addresses but keeps them reserved. */
i64 space_vacate(u64 start, u64 end);
/* Unmaps [start, end), which the guest no longer uses. The part in the window stays reserved. */
i64 space_release(u64 start, u64 end);
/* The kernel has unmapped [start, end): reserves the part in the window again. */
void space_reserve_again(u64 start, u64 end);
/* The first gap of the window that leaves a free page on both sides, or 0 if there is none. */
u64 space_find_gap(u64 size, u64 align);
/* True if these addresses are in the window, and the guest has nothing there. */
bool space_window_is_free(u64 start, u64 size);

#endif
