/* signature.h: a function's signature from the debug information of the file it is in. */
#ifndef BINOPT_SIGNATURE_H
#define BINOPT_SIGNATURE_H

#include "binopt/config/config.h"

/* Sets the type of the configuration and where its result is. Returns false if there is no debug information, or a type
 * that binopt has no name for: then cfg->untyped says so, and nothing else is changed. */
typedef bool SignatureFinder(BinoptCfg *cfg);
SignatureFinder signature_find;

/* The same for the function at an address of this file. */
bool signature_find_in(BinoptCfg *cfg, const char *file, u64 addr);

/* The registers that the result of a function of this process is in. 0: not known, or it is in other registers or in
 * none. */
ResultRegs signature_results(u64 function);

/* The finder of this library; NULL: it has none. */
extern SignatureFinder *const signature_finder;

#endif
