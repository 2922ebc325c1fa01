/* anything.h: functions that are none: they are specialised and never called. */
#ifndef FUZZ_BINOPT_ANYTHING_H
#define FUZZ_BINOPT_ANYTHING_H

#include "forms.h"
#include "random.h"

/* Specialises one by the rewriter that the environment names. */
void anything_run(Rng *r, const Forms *forms);

#endif
