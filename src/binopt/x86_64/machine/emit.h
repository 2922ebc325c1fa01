/* emit.h: a graph becomes machine code. */
#ifndef BINOPT_MACHINE_EMIT_H
#define BINOPT_MACHINE_EMIT_H

#include "binopt/x86_64/machine/order.h"

/* After live_run. The new function is at the start of the span, and its unwind tables, if any, are at *unwind; false if there is no
 * memory left for it. */
bool emit_graph(Unit *u, const Order *order, CodeMem *memory, CodeSpan *span, const void **unwind);

#endif
