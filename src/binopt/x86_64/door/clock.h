/* clock.h: the CPU's time stamp counter. */
#ifndef BINOPT_CLOCK_H
#define BINOPT_CLOCK_H

#include <sys/prctl.h>
#include <x86intrin.h>

#include "base/base.h"

/* A process may have been forbidden to read it. */
static inline bool clock_may_be_read(void) {
    int allowed = PR_TSC_ENABLE;
    prctl(PR_GET_TSC, &allowed);
    return allowed == PR_TSC_ENABLE;
}

static inline u64 clock_cycles(void) {
    return __rdtsc();
}

#endif
