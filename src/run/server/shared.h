/* shared.h: the cache that servers of several machines share; see docs/cache.md. All functions may be given NULL for it, which
 * has nothing and takes nothing. */
#ifndef RUN_SERVER_SHARED_H
#define RUN_SERVER_SHARED_H

#include "run/server/server.h"

typedef struct Shared Shared;

/* Connects when first used. What goes wrong is said to the client, once for a run. NULL: no such cache can be used. */
Shared *shared_new(const SharedMessage *message, const InitMessage *init, Connection *c, Pages *pages);
/* The object that some server made for such a request, as translator_run would give it; `ranges` until the next call. Nothing
 * is taken that was not made from exactly these bytes of the guest. */
bool shared_find(Shared *s, const TranslateMessage *request, Translation *out);
/* guest_hash: over the ranges, as in a pack's records. */
void shared_keep(Shared *s, const TranslateMessage *request, const Translation *t, u64 guest_hash);
void shared_free(Shared *s);

#endif
