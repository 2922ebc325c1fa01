/* trace.h: *trace* for rewriters that combine it with another one. */
#ifndef BINOPT_TRACE_H
#define BINOPT_TRACE_H

#include "binopt/config/rewriter.h"
#include "binopt/process/places.h"

/* Makes what rewriter_trace.specialize makes, but only if that takes little work: a fraction of a millisecond. `self`:
 * state of rewriter_trace. */
BinoptFunc trace_quickly(void *self, const BinoptCfg *cfg);

/* Makes what rewriter_trace.specialize makes, even if nothing is gained; *gains says whether something is. */
BinoptFunc trace_anyway(void *self, const BinoptCfg *cfg, bool *gains);

/* Keeps a function that was made until `self` is closed, because code that was made from it may lead there. Other
 * functions are ignored. */
void trace_keep(void *self, BinoptFunc made);

/* Memory near its code, for things that belong to the code. Allocations there must be released before `self` is closed. */
Places *trace_places(void *self);

#endif
