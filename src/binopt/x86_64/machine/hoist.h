/* hoist.h: keeps constants that loops load again and again in unused vector registers. */
#ifndef BINOPT_MACHINE_HOIST_H
#define BINOPT_MACHINE_HOIST_H

#include "binopt/x86_64/machine/order.h"

enum { HOIST_MAX = 8 };

typedef struct Hoisted {
    u32 count;
    u8 vec[HOIST_MAX];
    u32 bytes[HOIST_MAX]; /* their places in the pool */
} Hoisted;

/* Chooses the registers that are to be loaded at the entry, and makes instructions in loops use them. */
Hoisted hoist_constants(MachineUnit *u, const BlockOrder *order);

#endif
