/* relift.h: a compiled function of this process, lifted, optimised and compiled again, as a C function. */
#ifndef BENCH_RELIFT_H
#define BENCH_RELIFT_H

#include "base/base.h"
#include "lathe/lift.h"

typedef struct Relifted {
    void *entry; /* lives as long as the jit; NULL: it failed */
    size_t size;
    char problem[160]; /* why */
} Relifted;

/* `name` must be new to the jit; `show` prints the optimised IR to stdout. */
Relifted relift(LatheJit *jit, const void *function, const char *name, const char *sig, bool show);

/* Instructions in `size` bytes of machine code, without the padding between blocks. */
u64 count_host_insns(const void *code, size_t size);
void show_host_insns(const void *code, size_t size);

#endif
