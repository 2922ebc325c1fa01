/* outage.h: which runs know already that their shared cache is no use: a run of many processes waits for it, and is told, once. */
#ifndef CACHE_OUTAGE_H
#define CACHE_OUTAGE_H

#include "base/base.h"

typedef struct Outage {
    u64 cache;   /* a hash of its address */
    u32 run;     /* the run's first process */
    u32 since_s; /* of a clock that starts with the system; set by outage_note */
} Outage;

/* The notes are in a file of the directory, or of /tmp if it is empty. Without such a file, every process is the first. */
bool outage_is_known(const char *dir, const Outage *o);
/* True: it was not known before. */
bool outage_note(const char *dir, const Outage *o);

#endif
