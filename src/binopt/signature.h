/* signature.h: a function's signature from the debug information of the file it is in. */
#ifndef BINOPT_SIGNATURE_H
#define BINOPT_SIGNATURE_H

#include "binopt/config.h"

/* Sets the type of the configuration; false if there is no debug information, or a type that binopt has no name for, and then
 * nothing is changed. */
typedef bool SignatureFinder(BinoptCfg *cfg);
SignatureFinder signature_find;

/* The same for the function at an address of this file. */
bool signature_find_in(BinoptCfg *cfg, const char *file, u64 addr);

/* The one that the library has; NULL: none. */
extern SignatureFinder *const signature_finder;

#endif
