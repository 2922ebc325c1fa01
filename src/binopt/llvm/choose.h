/* choose.h: is what LLVM makes of a function better than what *trace* makes of it, or than the function itself? */
#ifndef BINOPT_LLVM_CHOOSE_H
#define BINOPT_LLVM_CHOOSE_H

#include "binopt/llvm/unit/unit.h"

/* Has LLVM unrolled loops of unknown length or made several rounds one of vectors? How many rounds there are then cannot be seen from the
 * machine code. To be called before the module is compiled. */
bool choose_is_widened(const Unit *u);

/* True if LLVM's code is expected to take no longer than what *trace* makes, in `trace`, rewriter_trace's. */
bool choose_llvm(void *trace, const BinoptCfg *cfg, BinoptFunc made);

#define CHOOSE_SLOWER "nothing is gained: LLVM's code for it is not expected to be faster"

/* What is left otherwise: *trace*'s code, or NULL for the function itself, for the reason `why`. */
BinoptFunc choose_other(void *trace, const BinoptCfg *cfg, const char *why);

#endif
