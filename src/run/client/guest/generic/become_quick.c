/* become_quick.c: see frame_become_quick of core/frame.h, for guests whose optimised code never gives way to quick code: it has the exact state. */
#include "run/client/core/frame.h"

void frame_become_quick(Thread *t) {
    (void)t;
    die("optimised code of this guest does not give way to quick code");
}
