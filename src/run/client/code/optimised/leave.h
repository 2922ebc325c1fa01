/* leave.h: with --tier=opt, threads leave optimised code that is given up; see leave.c. */
#ifndef RUN_CLIENT_LEAVE_H
#define RUN_CLIENT_LEAVE_H

#include "run/client/core/client.h"

/* Gives up all translations that exist, after they were forgotten. */
void leave_give_up(void);
/* Waits until no other thread runs translations that are given up. In a system call of t, without locks. */
void leave_wait(const Thread *t);
/* True if t may have frames of such translations on its host stack. Then it has to go to the bottom of that stack as soon as its state is whole. */
bool leave_due(const Thread *t);
/* Called by t at the bottom of its host stack: it has left all translations. */
void leave_done(Thread *t);

/* True if this signal asks the thread to leave, which may be in the middle of a loop. */
struct SignalInfo;
bool leave_is_asked(const struct SignalInfo *info);

#endif
