/* hidden.h: the client's own descriptors, which the guest does not see: see hidden.c. */
#ifndef RUN_CLIENT_HIDDEN_H
#define RUN_CLIENT_HIDDEN_H

#include "run/client/core/client.h"

/* Moves a new descriptor to where a guest does not expect one of its own, if the limit on their numbers allows; returns its number. */
int hidden_place(int fd);
/* The lowest of our descriptors that is not below `from`, or -1. */
int hidden_next(Thread *t, int from);
/* The guest is going to have a descriptor of this number: ours moves away. false: it cannot. */
bool hidden_make_way(Thread *t, int fd);

#endif
