/* contained_start.h: how a client begins that has a program behind it, in one file (memory/contained.h). */
#ifndef RUN_CLIENT_CONTAINED_START_H
#define RUN_CLIENT_CONTAINED_START_H

#include "run/client/core/client.h"

/* What to run. */
typedef struct Start {
    char *path; /* of the program, for people and for the guest */
    int argc;
    char **argv; /* the guest's */
} Start;

/* If something is contained, reads it, with the options that it has. Returns true if its program is to be run, and says how. */
bool contained_begin(int argc, char **argv, Start *start);
/* To be called once there is memory of the client's own. */
void contained_settle(void);

#endif
