/* order.h: the order of a graph's blocks in the new code, and which of them are in loops. */
#ifndef BINOPT_MACHINE_ORDER_H
#define BINOPT_MACHINE_ORDER_H

#include "binopt/x86_64/machine/graph.h"

typedef struct BlockOrder {
    VEC(i32) list;
} BlockOrder;

/* Orders the reached blocks, the entry first, and sets their `loops` and `depth`. */
void order_blocks(MachineUnit *u, BlockOrder *order);
void order_free(BlockOrder *order);

#endif
