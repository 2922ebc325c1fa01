/* compare.h: one sample on the oracle and as lifted code, and what is to be said where they differ. */
#ifndef FUZZ_COMPARE_H
#define FUZZ_COMPARE_H

#include "lifted.h"
#include "sample.h"

typedef enum Verdict { VERDICT_SAME, VERDICT_DIFFERENT, VERDICT_OPEN } Verdict; /* OPEN: no defined result to compare */

/* Runs the sample with the code that is at `index` of `l`; `c` is its case. */
Verdict compare_sample(const Lifted *l, size_t index, const Case *c, const Sample *s);

/* Prints the sample, reduced to the state that matters, both results, and a line for a case file. */
void compare_report(const Lifted *l, size_t index, const Case *c, const Sample *s, const char *mode);

#endif
