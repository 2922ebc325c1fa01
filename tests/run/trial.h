/* trial.h: one command run once: its output, errors, and how it ended. */
#ifndef TRIAL_H
#define TRIAL_H

#include "base/base.h"

typedef struct Output {
    char *data;
    size_t size;
} Output;

typedef struct Trial {
    Output out, err;
    int status;   /* as wait() has it */
    bool timeout; /* it was killed, with all of its process group */
    double seconds;
} Trial;

/* Run argv in `dir`, which is emptied first, with no standard input. Files beside `dir` take the output meanwhile. */
Trial trial_run(char *const *argv, const char *dir, int timeout_seconds);
bool trial_not_found(const Trial *t); /* it did not run at all */
void trial_free(Trial *t);
/* What differs between the two, in words; NULL: nothing. Free it. */
char *trial_difference(const Trial *expected, const Trial *got);

/* A directory without anything in it, made if it is not there; false: it cannot be. */
bool empty_directory(const char *path);

#endif
