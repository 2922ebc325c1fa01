/* generate.h: one random instruction of a form, with a random state in which it can run. */
#ifndef FUZZ_GENERATE_H
#define FUZZ_GENERATE_H

#include "forms.h"
#include "random.h"
#include "state.h"

enum { SAMPLE_BYTES = 180 };

typedef struct Sample {
    u64 seed;
    u8 code[SAMPLE_BYTES];
    size_t size;
    bool misaligned; /* a memory operand of 16 bytes or more is */
    bool may_repeat; /* its first instruction needs nothing special of the state */
    bool repeats;    /* a loop: after the first round operands can be anywhere */
    State initial;
} Sample;

/* One instruction and a state for it. Memory operands are in the scratch page, so are the stack and the strings. False:
 * nothing fitting was found this time. */
bool generate_sample(Rng *r, const Form *form, Sample *out);

/* Adds an instruction to the sample that can run in the state `now`, which it finds there; sometimes with a
 * conditional jump around it. */
bool generate_more(Rng *r, const Form *form, const State *now, Sample *out);

/* Adds what repeats a sample that may repeat a few times. It counts in scratch memory, where nothing else writes. */
void generate_loop(Rng *r, Sample *out);

#endif
