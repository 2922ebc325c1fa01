/* emit.h: a graph becomes machine code. */
#ifndef BINOPT_MACHINE_EMIT_H
#define BINOPT_MACHINE_EMIT_H

#include "binopt/machine/graph.h"

/* The new function; NULL if there is no memory left for it. */
void *emit_graph(Unit *u, CodeMem *memory);

#endif
