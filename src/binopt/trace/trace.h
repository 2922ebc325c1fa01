/* trace.h: *trace* as the first of two rewriters. */
#ifndef BINOPT_TRACE_H
#define BINOPT_TRACE_H

#include "binopt/config/rewriter.h"
#include "binopt/process/places.h"

/* What rewriter_trace.specialize makes, if it is done with little work: a fraction of a millisecond. `self` is rewriter_trace's. */
BinoptFunc trace_quickly(void *self, const BinoptCfg *cfg);

/* What rewriter_trace.specialize makes, also if nothing is gained by it, which *gains says. */
BinoptFunc trace_anyway(void *self, const BinoptCfg *cfg, bool *gains);

/* A function that was made stays until `self` is closed: something was made from it that may lead there. Others are ignored. */
void trace_keep(void *self, BinoptFunc made);

/* Where its code is, for what belongs to it. What is allocated there is to be released before it is closed. */
Places *trace_places(void *self);

#endif
