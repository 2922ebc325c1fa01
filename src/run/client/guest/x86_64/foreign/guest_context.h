/* guest_context.h: what a signal handler of the guest finds on its stack, on a host of another kind. */
#ifndef GUEST_CONTEXT_H
#define GUEST_CONTEXT_H

#include "guest_cpu.h"

#define X86_CONTEXT GuestContext
#include "run/client/guest/x86_64/abi/x86_context.h"

/* Copies the general registers of a context, without pc and flags. */
void frame_take_general(LatheX86Cpu *c, const GuestContext *s);
/* Writes the general registers, the pc, flags and selectors to a context. */
void frame_save_general(const LatheX86Cpu *c, GuestContext *s);

#endif
