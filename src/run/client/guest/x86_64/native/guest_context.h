/* guest_context.h: what a signal handler of the guest finds on its stack. The host is of the guest's kind, so the host's handlers find the same. */
#ifndef GUEST_CONTEXT_H
#define GUEST_CONTEXT_H

#include "guest_cpu.h"
#include "host_context.h"

typedef SignalContext GuestContext;

/* Copies the general registers of a context, without pc and flags. */
void frame_take_general(LatheX86Cpu *c, const GuestContext *s);
/* Writes the general registers, the pc, flags and selectors to a context. */
void frame_save_general(const LatheX86Cpu *c, GuestContext *s);

#endif
