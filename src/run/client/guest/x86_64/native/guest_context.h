/* guest_context.h: what a signal handler of the guest finds on its stack. The host is of the guest's kind, so the host's handlers find the same. */
#ifndef GUEST_CONTEXT_H
#define GUEST_CONTEXT_H

#include "host_context.h"

typedef SignalContext GuestContext;

#endif
