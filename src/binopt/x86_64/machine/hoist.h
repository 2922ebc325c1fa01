/* hoist.h: constants that loops load again and again are kept in vector registers that nobody else uses. */
#ifndef BINOPT_MACHINE_HOIST_H
#define BINOPT_MACHINE_HOIST_H

#include "binopt/x86_64/machine/order.h"

enum { HOIST_MAX = 8 };

typedef struct Hoisted {
    u32 count;
    u8 vec[HOIST_MAX];
    u32 bytes[HOIST_MAX]; /* in the pool */
} Hoisted;

/* Which registers are to be loaded at the entry; instructions in loops then use them. */
Hoisted hoist_constants(Unit *u, const Order *order);

#endif
