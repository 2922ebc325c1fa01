/* results.h: the registers that a function's result may be in.
 *
 * Debug information says where the result is. Without it, a declared type of 8 bytes may be just the first register of what the function
 * really returns (a struct of two words declared as one). Then all registers are kept that may hold a part of a result. A register that on
 * some path to a return is not written to, and holds no parameter, has no part of the result. */
#ifndef BINOPT_RESULTS_H
#define BINOPT_RESULTS_H

#include "binopt/config/config.h"

enum { RESULTS_ALL = RESULT_RAX | RESULT_RDX | RESULT_XMM0 | RESULT_XMM1 };

/* The registers to keep. unset: those to which nothing is written on some path to a return. If there is a doubt, the
 * type was declared and `search` is true, the debug information is searched, which may take a millisecond. */
ResultRegs results_kept(const BinoptCfg *cfg, u32 unset, bool search);

#endif
