/* kernel_signal.h: structures about signals, which the kernel lays out in the same way on all hosts. */
#ifndef RUN_CLIENT_KERNEL_SIGNAL_H
#define RUN_CLIENT_KERNEL_SIGNAL_H

#include <linux/signal.h>

#include "base/base.h"

/* siginfo_t: the members that the client itself needs. */
typedef struct SignalInfo {
    i32 number, error, code, reserved;
    u64 address; /* of faults */
    u8 rest[104];
} SignalInfo;

typedef struct AltStack { /* stack_t */
    u64 base;
    u32 flags, reserved;
    u64 size;
} AltStack;

typedef struct Action { /* struct sigaction with SA_RESTORER, as these hosts have it */
    u64 handler, flags, restorer, mask;
} Action;

_Static_assert(sizeof(SignalInfo) == 128, "the kernel's layout");

#endif
