/* foreign_frame.c: see core/frame.h, for guests whose registers are not the host's. */
#include "run/client/core/frame.h"

/* Optimised code never gives way to quick code here: it has the exact state. */
void frame_become_quick(Thread *t) {
    (void)t;
    die("optimised code of this guest does not give way to quick code");
}

bool frame_show(const Thread *t, SignalContext *s) {
    (void)t, (void)s;
    return false;
}
