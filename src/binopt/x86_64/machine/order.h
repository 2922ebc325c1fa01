/* order.h: where the blocks of a graph go in the new code, and which of them are in loops. */
#ifndef BINOPT_MACHINE_ORDER_H
#define BINOPT_MACHINE_ORDER_H

#include "binopt/x86_64/machine/graph.h"

typedef struct Order {
    VEC(i32) list;
} Order;

/* Those that are reached, the first one first; their `loops` and `depth` are filled in. */
void order_blocks(Unit *u, Order *order);
void order_free(Order *order);

#endif
