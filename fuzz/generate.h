/* generate.h: one random instruction of a form, with a random state in which it can run. */
#ifndef FUZZ_GENERATE_H
#define FUZZ_GENERATE_H

#include "forms.h"
#include "random.h"
#include "state.h"

typedef struct Sample {
    u64 seed;
    u8 code[16];
    size_t size;
    bool misaligned; /* a memory operand of 16 bytes or more is */
    State initial;
} Sample;

/* Memory operands are in the scratch page, so are the stack and the strings. False: nothing fitting was found this time. */
bool generate_sample(Rng *r, const Form *form, Sample *out);

#endif
