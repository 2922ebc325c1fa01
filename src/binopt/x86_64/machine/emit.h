/* emit.h: turns a graph into machine code. */
#ifndef BINOPT_MACHINE_EMIT_H
#define BINOPT_MACHINE_EMIT_H

#include "binopt/x86_64/machine/order.h"

/* Called after live_run. The new function is at the start of the span, and its unwind tables are at *unwind, or it is
 * NULL. Returns false if there is no memory left. */
bool emit_graph(MachineUnit *u, const BlockOrder *order, CodeMem *memory, CodeSpan *span, const void **unwind);

#endif
