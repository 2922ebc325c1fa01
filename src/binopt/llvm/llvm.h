/* llvm.h: *llvm* for rewriters that combine it with another one. */
#ifndef BINOPT_LLVM_LLVM_H
#define BINOPT_LLVM_LLVM_H

#include "binopt/config/rewriter.h"

/* Makes versions of the function that may be the fastest, at most CHOICE_MOST (choice.h), the most promising one first.
 * Returns how many; if it is 0, config_refuse was told why. `self` is the state of rewriter_llvm, whose release frees
 * them. */
u32 llvm_versions(void *self, const BinoptCfg *cfg, BinoptFunc *versions);

#endif
