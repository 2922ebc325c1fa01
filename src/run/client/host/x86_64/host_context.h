/* host_context.h: what a signal handler finds on its stack, as x86-64 Linux lays it out. */
#ifndef RUN_CLIENT_HOST_CONTEXT_H
#define RUN_CLIENT_HOST_CONTEXT_H

#include <linux/signal.h>

#include "base/base.h"

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

#endif
