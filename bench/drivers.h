/* drivers.h: how each kernel is called, on data made for it. */
#ifndef BENCH_DRIVERS_H
#define BENCH_DRIVERS_H

#include "base/base.h"

typedef struct Kernel {
    const char *name, *sig;
    void *by_gcc, *by_clang;
    u64 (*drive)(const void *kernel, u32 times); /* returns a digest of the results */
    u32 times;                                   /* that take some milliseconds; 0: too short to be timed */
} Kernel;

extern const Kernel kernels[];
extern const size_t kernel_count;

void drivers_init(void); /* fills the data; once */

#endif
