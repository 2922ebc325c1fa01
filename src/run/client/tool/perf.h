/* perf.h: --perf: files by which perf knows translated code: /tmp/perf-PID.map, with a line for each piece of it, and /tmp/jit-PID.dump, with the code itself. Pieces are
 * named after the guest's functions. All functions here do nothing without --perf, and are called with the arena's lock held. */
#ifndef RUN_CLIENT_PERF_H
#define RUN_CLIENT_PERF_H

#include "base/base.h"

/* Begins both files anew for this process, and lets perf know where translated code will be. */
void perf_begin(void);
/* Code for the guest's code at pc is complete. */
void perf_note(u64 pc, const void *code, u64 size);
/* In the child, which has all code of its parent. */
void perf_after_fork(void);

#endif
