/* become_quick.c: see frame_become_quick of core/frame.h: where the host is of the guest's kind, quick code has the guest's flags, vector and floating-point registers in the
 * host's. */
#include "guest_flags.h"
#include "run/client/core/frame.h"
#include "xstate.h"

void frame_become_quick(Thread *t) {
    t->quick.flags = frame_flags(&t->cpu);
    xstate_move_to_host(&t->cpu);
    t->tier.optimised = false;
}
