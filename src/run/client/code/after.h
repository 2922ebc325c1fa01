/* after.h: what is hot and has no optimised code yet is compiled after the run: see after.c. */
#ifndef RUN_CLIENT_AFTER_H
#define RUN_CLIENT_AFTER_H

#include "run/client/core/client.h"

/* The process ends: its image and what it has learned are written, and if there is something to compile, a process of its own begins with that. */
void after_run(Thread *t);

#endif
