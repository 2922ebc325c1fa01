/* work.h: work that another process does, so that whatever becomes of it, this one goes on. */
#ifndef CLI_EXPLORE_WORK_H
#define CLI_EXPLORE_WORK_H

#include <stdio.h>

#include "base/base.h"

/* What the job has written, to be freed by free(), and its size; NULL if it did not come to its end: then *why says why. Any thread may call this. */
char *work_run(void (*job)(FILE *out, void *user), void *user, size_t *size, const char **why);

#endif
