/* results.h: the registers that a function's result may be in.
 *
 * Debug information says where the result is. Without it, a type of 8 bytes may be just the first register of what the function returns
 * (a struct of two words declared as one): then all registers are kept that may hold a part of a result. One that on some way to a return has not been
 * written to, and has no parameter in it, holds none. */
#ifndef BINOPT_RESULTS_H
#define BINOPT_RESULTS_H

#include "binopt/config/config.h"

enum { RESULTS_ALL = RESULT_RAX | RESULT_RDX | RESULT_XMM0 | RESULT_XMM1 };

/* Those to keep, `unset` being the ones that nothing was written to on some way to a return. If that leaves a doubt and the type was
 * declared, debug information is searched for if `search` is true, which may take a millisecond. */
ResultRegs results_kept(const BinoptCfg *cfg, u32 unset, bool search);

#endif
