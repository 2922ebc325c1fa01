/* cpu.h: the CPU that code is compiled for, on which the code depends besides guest, options and server. */
#ifndef CACHE_CPU_H
#define CACHE_CPU_H

#include "base/base.h"

/* A hash of the features that this CPU and its system offer to programs; never 0. */
u64 cpu_kind(void);

#endif
