/* generate.h: one random instruction of a form, with a random state in which it can run. */
#ifndef FUZZ_GENERATE_H
#define FUZZ_GENERATE_H

#include "forms.h"
#include "sample.h"

/* One instruction and a state for it. Memory operands are in the scratch page, so are the stack and the strings. False:
 * nothing fitting was found this time. */
bool generate_sample(Rng *r, const Form *form, Sample *out);

/* Adds an instruction to the sample that can run in the state `now`, which it finds there; sometimes with a
 * conditional jump around it. */
bool generate_more(Rng *r, const Form *form, const State *now, Sample *out);

/* Adds what repeats a sample that may repeat a few times. It counts in scratch memory, where nothing else writes. */
void generate_loop(Rng *r, Sample *out);

#endif
