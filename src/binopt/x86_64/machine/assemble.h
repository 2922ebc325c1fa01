/* assemble.h: turns a graph into machine code. */
#ifndef BINOPT_MACHINE_ASSEMBLE_H
#define BINOPT_MACHINE_ASSEMBLE_H

#include "binopt/x86_64/machine/order.h"

/* Called after live_run. The new function is at the start of the span, and its unwind tables are at *unwind, or it is
 * NULL. Returns false if there is no memory left. */
bool assemble_graph(MachineUnit *u, const BlockOrder *order, CodeMem *memory, CodeSpan *span, const void **unwind);

#endif
