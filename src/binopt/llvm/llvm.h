/* llvm.h: *llvm* as the second of two rewriters. */
#ifndef BINOPT_LLVM_LLVM_H
#define BINOPT_LLVM_LLVM_H

#include "binopt/config/rewriter.h"

/* Versions of the function that may be the fastest, at most CHOICE_MOST (choice.h), the one that is expected to be it first; returns how many. If there
 * are none config_refuse was told why. `self` is rewriter_llvm's, whose release takes them. */
u32 llvm_versions(void *self, const BinoptCfg *cfg, BinoptFunc *versions);

#endif
