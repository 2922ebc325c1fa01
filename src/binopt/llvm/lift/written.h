/* written.h: the registers that a lifted function may return its result in: see binopt/config/results.h. */
#ifndef BINOPT_LLVM_WRITTEN_H
#define BINOPT_LLVM_WRITTEN_H

#include "binopt/config/results.h"
#include "lift/func.h"

/* The registers to keep, for the decoded function of the configuration. */
ResultRegs written_results(const BinoptCfg *cfg, const LatheFunc *fn);

#endif
