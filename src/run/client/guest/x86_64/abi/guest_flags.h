/* guest_flags.h: parts of an x86-64 guest's state as signal contexts have them, which are the host's, too. */
#ifndef GUEST_FLAGS_H
#define GUEST_FLAGS_H

#include "guest_cpu.h"

struct SignalContext; /* of host_context.h */

/* The flags in the guest state as rflags has them, and back. */
u64 frame_flags(const LatheX86Cpu *c);
void frame_set_flags(LatheX86Cpu *c, u64 flags);

/* The general registers of a context; neither pc nor flags. */
void frame_take_general(LatheX86Cpu *c, const struct SignalContext *s);

/* What the instruction of a system call leaves in registers; pc is behind it. */
static inline void guest_enter_call(LatheX86Cpu *c, u64 flags) {
    c->gp[LATHE_RCX] = c->pc;
    c->gp[LATHE_R11] = flags;
}

/* EXIT_SPECIAL */
static inline void guest_special(LatheX86Cpu *c) {
    guest_cpuid(c);
}

#endif
