/* outage.h: notes which runs know that their shared cache is out of service, so that a run of many processes waits for
 * it once, and is told once. */
#ifndef CACHE_OUTAGE_H
#define CACHE_OUTAGE_H

#include "base/base.h"

typedef struct Outage {
    u64 cache;   /* hash of the cache's address */
    u32 run;     /* the run's first process */
    u32 since_s; /* by a clock that starts with the system; set by outage_note */
} Outage;

/* The notes are in a file of the directory, or of /tmp if `dir` is empty. If the file cannot be used, no outage is ever
 * known. */
bool outage_is_known(const char *dir, const Outage *o);
/* Returns true if the outage was not known before. */
bool outage_note(const char *dir, const Outage *o);

#endif
