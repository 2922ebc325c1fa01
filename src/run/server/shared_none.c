/* shared_none.c: shared.h in a build without Redis. `lathe run` says so itself; only a client of another build gets here. */
#include "run/server/shared.h"

Shared *shared_new(const SharedMessage *message, const InitMessage *init, Connection *c, Pages *pages) {
    static const char text[] = "the shared cache is not used: lathe-server was built without Redis";
    (void)message, (void)init, (void)pages;
    connection_send(c, S_WARNING, text, sizeof(text) - 1, NULL, 0);
    return NULL;
}

bool shared_find(Shared *s, const TranslateMessage *request, Translation *out) {
    (void)s, (void)request, (void)out;
    return false;
}

void shared_keep(Shared *s, const TranslateMessage *request, const Translation *t, u64 guest_hash) {
    (void)s, (void)request, (void)t, (void)guest_hash;
}

void shared_free(Shared *s) {
    (void)s;
}
