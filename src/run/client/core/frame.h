/* frame.h: what a signal handler of the guest finds on its stack, which guest/NAME/frame.c knows. */
#ifndef RUN_CLIENT_FRAME_H
#define RUN_CLIENT_FRAME_H

#include "host_context.h"
#include "run/client/core/client.h"

/* What handlers need, before the guest begins; false: no memory. */
bool frame_prepare(void);
/* struct sigaction in guest memory; false: it is not there. */
bool frame_read_action(u64 from, Action *a);
bool frame_write_action(u64 to, const Action *a);

/* A thread that ran optimised code only goes on in quick code: its state goes to where that has it, and t->tier.optimised is false then. */
void frame_become_quick(Thread *t);

/* Put a frame for the handler on the guest's stack (altstack: top of the alternate one, 0: go on below the stack pointer) and make the
 * guest state the handler's first. false: the alternate stack has no room for it. */
bool frame_push(Thread *t, const SignalInfo *info, u64 mask, u64 handler, u64 restorer, u64 altstack);
/* Of the frame that the stack pointer is in, as rt_sigreturn finds it: what is not the guest's state, and that state. */
typedef struct FrameFacts {
    u64 mask;
    AltStack stack;
} FrameFacts;
FrameFacts frame_look(const Thread *t);
void frame_pop(Thread *t);

#endif
