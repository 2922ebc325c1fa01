/* shared.h: the cache that servers of several machines share; see docs/cache.md. All functions accept NULL for it: a
 * cache that finds and stores nothing. */
#ifndef RUN_SERVER_SHARED_H
#define RUN_SERVER_SHARED_H

#include "run/server/server.h"

typedef struct Shared Shared;

/* Connects when it is first used. Problems are reported to the client, once for a run. Returns NULL if no such cache
 * can be used. */
Shared *shared_new(const SharedMessage *message, const InitMessage *init, Connection *c, Pages *pages);
/* Finds the object that some server made for such a request, in the form of translator_run's result; out->ranges are
 * valid until the next call. Only objects that were made from exactly these bytes of the guest are found. */
bool shared_find(Shared *s, const TranslateMessage *request, Translation *out);
/* guest_hash: the hash over the ranges, as in a pack's records. */
void shared_keep(Shared *s, const TranslateMessage *request, const Translation *t, u64 guest_hash);
void shared_free(Shared *s);

#endif
