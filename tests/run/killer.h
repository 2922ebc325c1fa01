/* killer.h: a process that kills translation servers while programs run. */
#ifndef KILLER_H
#define KILLER_H

#include <stdbool.h>
#include <sys/types.h>

/* Starts a process that kills, every `ms` milliseconds, the translation servers whose cache is in the directory `work` and that have used this much of the
 * processor's time. */
pid_t killer_start(const char *work, int ms);
/* Ends it, and prints how many servers it has killed. false: none, so nothing was tested. */
bool killer_stop(pid_t killer);

#endif
