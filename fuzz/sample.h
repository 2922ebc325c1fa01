/* sample.h: random instructions in random states, which each guest makes in its own way. */
#ifndef FUZZ_SAMPLE_H
#define FUZZ_SAMPLE_H

#include "cases.h"
#include "random.h"

enum { SAMPLE_BYTES = 180 };

typedef struct Sample {
    u64 seed;
    u8 code[SAMPLE_BYTES];
    size_t size;
    bool misaligned; /* a memory operand that wants alignment has none, and whether that faults is not compared */
    bool may_repeat; /* its first instruction needs nothing special of the state */
    bool repeats;    /* a loop: after the first round operands can be anywhere */
    State initial;
} Sample;

/* Finds what there is to make samples of, or only that of one instruction; returns how many rows that are. */
u32 sample_find(const char *only);
const char *sample_row_name(u32 row);
u32 sample_form_count(void);
void sample_list(u32 row); /* prints the forms of a row */

/* One instruction of a row, and a state for it. Memory operands are in the scratch page. False: nothing fitting was found
 * this time. */
bool sample_first(Rng *r, u32 row, Sample *out);
/* Adds an instruction that can run in the state `now`, which it finds there; sometimes with a conditional jump around it. */
bool sample_more(Rng *r, const State *now, Sample *out);
/* Adds what repeats a sample that may repeat a few times. It counts in scratch memory, where nothing else writes. */
void sample_loop(Rng *r, Sample *out);

/* Goes through the code as the oracle does, and leaves open in `ignore` what is undefined at its end. False: a result is
 * undefined, or there is no end. */
bool sample_open(const Case *c, const State *initial, State *ignore);

/* Calls `reduce` for the parts of the guest's registers that can be simplified by themselves, the larger ones first. */
typedef void ReducePart(void *arg, size_t offset, size_t size);
void sample_reduce(ReducePart *reduce, void *arg);

#endif
