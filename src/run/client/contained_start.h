/* contained_start.h: the start of a client that is in one file with a guest program (lathe raise --contained; memory/contained.h). */
#ifndef RUN_CLIENT_CONTAINED_START_H
#define RUN_CLIENT_CONTAINED_START_H

#include "run/client/core/client.h"

/* The program to run, and its arguments. */
typedef struct Start {
    char *path; /* of the program, for people and for the guest */
    int argc;
    char **argv; /* the guest's */
} Start;

/* If this client's file contains a program, reads its head and its options. Returns true, and says in *start what to run, if that program is to be
 * run now; false if there is none, or if exec of a contained program has started the client to run another file. */
bool contained_begin(int argc, char **argv, Start *start);
/* Moves what contained_begin has mapped into the client's own memory, as soon as there is such memory. */
void contained_settle(void);

#endif
