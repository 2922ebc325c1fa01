/* leave.h: with --tier=opt, threads leave optimised code that is given up; see leave.c. */
#ifndef RUN_CLIENT_LEAVE_H
#define RUN_CLIENT_LEAVE_H

#include "run/client/core/client.h"

/* What was translated so far is given up, after it was forgotten. */
void leave_give_up(void);
/* Waits until no other thread runs what is given up. In a system call of t, without locks. */
void leave_wait(const Thread *t);
/* May t be in what is given up? Then it goes to the bottom of its host stack, where its state is in its Thread. */
bool leave_due(const Thread *t);
/* t is at the bottom of its host stack. */
void leave_done(Thread *t);

/* The signal by which threads are asked, to those that are in the middle of a loop. */
struct SignalInfo;
bool leave_is_asked(const struct SignalInfo *info);

#endif
