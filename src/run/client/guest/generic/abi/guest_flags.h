/* guest_flags.h: the parts of the guest's state that quick code keeps in registers of the host; guests of other machines
 * have none. GuestCpu is the guest's own: who includes this has included its guest_cpu.h before. */
#ifndef GUEST_FLAGS_H
#define GUEST_FLAGS_H

#include "base/base.h"

struct SignalContext; /* see host_context.h */

static inline u64 frame_flags(const GuestCpu *c) {
    return (void)c, 0;
}

static inline void frame_set_flags(GuestCpu *c, u64 flags) {
    (void)c, (void)flags;
}

static inline void frame_take_general(GuestCpu *c, const struct SignalContext *s) {
    (void)c, (void)s;
}

static inline void guest_enter_call(GuestCpu *c, u64 flags) {
    (void)c, (void)flags;
}

static inline void guest_special(GuestCpu *c) {
    (void)c;
    CHECK(false, "quick code of this guest has no such exit");
}

#endif
