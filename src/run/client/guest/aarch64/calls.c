/* calls.c: aarch64 has no system calls and no interrupts of its own. */
#include "run/client/core/guest.h"

bool guest_interrupt(struct Thread *t) {
    (void)t;
    return false;
}
