/* frame.h: what a signal handler finds on its stack: the host's, as x86-64 Linux lays it out, and the guest's, which guest/NAME/frame.c
 * knows. */
#ifndef RUN_CLIENT_FRAME_H
#define RUN_CLIENT_FRAME_H

#include <linux/signal.h>

#include "run/client/client.h"

/* siginfo_t: the members that the client itself needs. */
typedef struct SignalInfo {
    i32 number, error, code, reserved;
    u64 address; /* of faults */
    u8 rest[104];
} SignalInfo;

typedef struct AltStack { /* stack_t */
    u64 base;
    u32 flags, reserved;
    u64 size;
} AltStack;

typedef struct Action { /* struct sigaction as the host's kernel has it */
    u64 handler, flags, restorer, mask;
} Action;

/* ucontext_t of the host, up to the part that the kernel writes. */
typedef struct SignalContext {
    u64 flags, link;
    u64 stack;
    u32 stack_flags, reserved0;
    u64 stack_size;
    u64 r8, r9, r10, r11, r12, r13, r14, r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip, rflags;
    u16 cs, gs, fs, ss;
    u64 error, trap, old_mask, cr2, fpstate, reserved[8];
    u64 mask;
} SignalContext;

_Static_assert(sizeof(SignalInfo) == 128 && sizeof(SignalContext) == 304, "the kernel's layout");

/* ------------------------------------------------------------------------------------------- the guest's: guest/NAME/frame.c */

/* What handlers need, before the guest begins; false: no memory. */
bool frame_prepare(void);
/* struct sigaction in guest memory; false: it is not there. */
bool frame_read_action(u64 from, Action *a);
bool frame_write_action(u64 to, const Action *a);

/* A thread that ran optimised code only goes on in quick code: its state goes to where that has it, and t->optimised is false then. */
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
