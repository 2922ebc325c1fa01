/* samples.h: how often the blocks of a file were executed, as the tool `hot` has counted them. */
#ifndef CLI_EXPLORE_SAMPLES_H
#define CLI_EXPLORE_SAMPLES_H

#include "base/base.h"

/* The instructions in [start, end). Blocks may overlap. */
typedef struct Sample {
    u64 start, end, insns, times;
} Sample;

typedef struct Samples {
    VEC(Sample) blocks; /* by start */
    u64 total;          /* instructions that were executed, also those of other files */
} Samples;

/* Reads what the tool has written (data=FILE), and keeps what is of the file `of`. False: it could not be read or has nothing of that file, and a message was printed. */
bool samples_read(Samples *s, const char *path, const char *of);
void samples_free(Samples *s);

/* How often the instruction at `pc` was executed; and how many instructions were in [start, end). */
u64 samples_times(const Samples *s, u64 pc);
u64 samples_cost(const Samples *s, u64 start, u64 end);

#endif
