/* native_frame.c: see core/frame.h: where the host is of the guest's kind, quick code has the guest's flags, vector and floating-point registers in the host's, and a host's
 * context is one of the guest. */
#include "guest_context.h"
#include "guest_flags.h"
#include "run/client/core/frame.h"
#include "xstate.h"

void frame_become_quick(Thread *t) {
    t->quick.flags = frame_flags(&t->cpu);
    xstate_move_to_host(&t->cpu);
    t->tier.optimised = false;
}

/* Vector registers are the guest's in the context of quick code already. */
bool frame_show(const Thread *t, SignalContext *s) {
    u64 flags = s->rflags;
    u16 cs = s->cs, ss = s->ss;
    frame_save_general(&t->cpu, s);
    s->rflags = flags, s->cs = cs, s->ss = ss;
    return true;
}
