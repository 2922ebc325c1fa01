/* cpu.h: what the code that a server makes depends on besides guest, options and server: the CPU it is compiled for. */
#ifndef CACHE_CPU_H
#define CACHE_CPU_H

#include "base/base.h"

/* A hash of what this CPU and its system offer to programs; never 0. */
u64 cpu_kind(void);

#endif
