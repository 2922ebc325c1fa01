/* plain_context.h: what a signal handler finds on hosts whose processes cannot make themselves step, and which do not tell of faults as page tables do. Included by host_context.h. */
#ifndef RUN_CLIENT_PLAIN_CONTEXT_H
#define RUN_CLIENT_PLAIN_CONTEXT_H

enum { CONTEXT_TRAP_FLAG = 1 << 21, CONTEXT_STEPS = false }; /* a process cannot make itself step */

static inline void context_step(SignalContext *s, bool steps) {
    (void)s, (void)steps;
}

static inline bool context_is_stack_fault(const SignalContext *s) {
    return (void)s, false;
}

/* What some guests find in their frames: that a page fault was a write, and came from a program. */
static inline u64 context_error(const SignalContext *s) {
    enum { WRITE = 2, PROGRAM = 4 };
    return PROGRAM | (context_is_write(s) ? WRITE : 0);
}

static inline u64 context_trap(const SignalContext *s) {
    enum { PAGE_FAULT = 14 };
    return (void)s, PAGE_FAULT;
}

/* There is no instruction that stores whether the CPU steps. */
static inline bool context_pushes_flags(const SignalContext *s) {
    return (void)s, false;
}

static inline void context_clean_pushed(const SignalContext *s) {
    (void)s;
}

#endif
