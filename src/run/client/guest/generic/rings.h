/* rings.h: mappings that rings.c has to know of. */
#ifndef GUEST_RINGS_H
#define GUEST_RINGS_H

#include "base/base.h"

/* The guest has mapped a file that may be a ring of io_uring. */
void rings_mapped(int fd, u64 off, u64 at);

#endif
