/* hidden.h: the client's own descriptors, which the guest does not see: see hidden.c. */
#ifndef RUN_CLIENT_HIDDEN_H
#define RUN_CLIENT_HIDDEN_H

#include "run/client/core/client.h"

/* Moves a new descriptor to a number that a guest does not expect for one of its own, if the limit allows it. Returns
 * the number. */
int hidden_place(int fd);
/* The lowest of the client's descriptors that is not below `from`, or -1. */
int hidden_next(Thread *t, int from);
/* The guest is going to have a descriptor of this number: moves the client's descriptor away. Returns false if that is
 * impossible. */
bool hidden_make_way(Thread *t, int fd);

#endif
