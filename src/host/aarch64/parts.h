/* parts.h: the parts that aarch64 as a host is made of. */
#ifndef HOST_AARCH64_PARTS_H
#define HOST_AARCH64_PARTS_H

#include "host/host.h"

extern const struct HostStencil aarch64_stencil; /* stencil.c */

#endif
