/* equal.h: functions that can be called, specialised: they do what the originals do. */
#ifndef FUZZ_BINOPT_EQUAL_H
#define FUZZ_BINOPT_EQUAL_H

#include "function.h"

void equal_init(void);

/* Makes one, specialises it by the rewriter that the environment names, which may be one of those that have to understand
 * (`lifts`), and compares. False: it does something else, and that was said. */
bool equal_run(Rng *r, const Choice *choice, bool lifts);

#endif
