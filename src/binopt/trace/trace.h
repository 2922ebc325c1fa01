/* trace.h: *trace* as the first of two rewriters. */
#ifndef BINOPT_TRACE_H
#define BINOPT_TRACE_H

#include "binopt/places.h"
#include "binopt/rewriter.h"

/* What rewriter_trace.specialize makes, if it is done with little work: a fraction of a millisecond. `self` is rewriter_trace's. */
BinoptFunc trace_quickly(void *self, const BinoptCfg *cfg);

/* Where its code is, for what belongs to it. What is allocated there is to be released before it is closed. */
Places *trace_places(void *self);

#endif
