/* guest_flags.h: converts parts of an x86-64 guest's state from and to the format of signal contexts. */
#ifndef GUEST_FLAGS_H
#define GUEST_FLAGS_H

#include "guest_context.h"
#include "guest_cpu.h"

/* The flags in the guest state as rflags has them, and back. */
u64 frame_flags(const LatheX86Cpu *c);
void frame_set_flags(LatheX86Cpu *c, u64 flags);

/* Copies the general registers of a context, without pc and flags. */
void frame_take_general(LatheX86Cpu *c, const GuestContext *s);

/* Sets the registers that the instruction for a system call changes. pc is behind it. */
static inline void guest_enter_call(LatheX86Cpu *c, u64 flags) {
    c->gp[LATHE_RCX] = c->pc;
    c->gp[LATHE_R11] = flags;
}

/* Called for EXIT_SPECIAL. */
static inline void guest_special(LatheX86Cpu *c) {
    guest_cpuid(c);
}

#endif
