/* after.h: compiling after the run what was hot and has no optimised code yet: see after.c. */
#ifndef RUN_CLIENT_AFTER_H
#define RUN_CLIENT_AFTER_H

#include "run/client/core/client.h"

/* Called when the process ends: writes its image and what it has learned, and starts a process that compiles what is left. */
void after_run(Thread *t);

#endif
