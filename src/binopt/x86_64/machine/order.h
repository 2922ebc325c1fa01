/* order.h: the order of a graph's blocks in the new code, and which of them are in loops. */
#ifndef BINOPT_MACHINE_ORDER_H
#define BINOPT_MACHINE_ORDER_H

#include "binopt/x86_64/machine/graph.h"

typedef struct Order {
    VEC(i32) list;
} Order;

/* Orders the reached blocks, the entry first, and sets their `loops` and `depth`. */
void order_blocks(Unit *u, Order *order);
void order_free(Order *order);

#endif
