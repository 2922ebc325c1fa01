/* frame.h: what a signal handler of the guest finds on its stack; guest/NAME/frame.c has these functions. */
#ifndef RUN_CLIENT_FRAME_H
#define RUN_CLIENT_FRAME_H

#include "host_context.h"
#include "run/client/core/client.h"

/* Called before the guest begins: prepares what handlers need. Returns false if there is no memory. */
bool frame_prepare(void);
/* Read or write the guest's struct sigaction. Return false if the memory cannot be accessed. */
bool frame_read_action(u64 from, Action *a);
bool frame_write_action(u64 to, const Action *a);

/* A thread that has run only optimised code goes on in quick code: moves its state to where quick code has it, and
 * clears t->tier.optimised. */
void frame_become_quick(Thread *t);

/* Pushes a frame for the handler to the guest's stack, and makes the guest's state that of the handler's first
 * instruction. altstack: the end of the alternate stack, or 0 to go on below the stack pointer. Returns false if the
 * alternate stack has no room for the frame. */
bool frame_push(Thread *t, const SignalInfo *info, u64 mask, u64 handler, u64 restorer, u64 altstack);
/* frame_look reads the mask and the alternate stack from the frame that the stack pointer points to, as rt_sigreturn
 * finds it; frame_pop reads the guest's state from it. */
typedef struct FrameFacts {
    u64 mask;
    AltStack stack;
} FrameFacts;
FrameFacts frame_look(const Thread *t);
/* Makes the general registers and the pc of a host's context those of the guest, which is about to die: a core file has the registers of the moment at which the kernel ends the
 * process. Returns false, with nothing changed, if guest and host are of different kinds. */
bool frame_show(const Thread *t, SignalContext *s);
void frame_pop(Thread *t);

#endif
