/* compiled.h: functions that compilers made of random source text, specialised: they do what the originals do. */
#ifndef FUZZ_BINOPT_COMPILED_H
#define FUZZ_BINOPT_COMPILED_H

#include "random.h"

/* Was there a compiler when this program was built? */
bool compiled_possible(void);

/* Compiles and loads a file of them, specialises them by the rewriter that the environment names, and compares. False: one does something
 * else, or could not be compiled, and that was said. */
bool compiled_run(Rng *r);

#endif
