/* host_context.h: what a signal handler finds on its stack, as x86-64 Linux lays it out. */
#ifndef RUN_CLIENT_HOST_CONTEXT_H
#define RUN_CLIENT_HOST_CONTEXT_H

#include "run/client/kernel/kernel_signal.h"

/* ucontext_t of the host is that of x86-64 guests. */
#define X86_CONTEXT SignalContext
#include "run/client/guest/x86_64/abi/x86_context.h"

/* ------------------------------------------------------------------------------------------------------------ what is in it */

enum { CONTEXT_TRAP_FLAG = 1 << 8, CONTEXT_STEPS = true /* context_step works */ };

static inline u64 context_pc(const SignalContext *s) {
    return s->rip;
}

static inline u64 context_sp(const SignalContext *s) {
    return s->rsp;
}

static inline void context_set_pc(SignalContext *s, u64 pc) {
    s->rip = pc;
}

/* The bytes of xmm register n, of 16, in what the kernel has saved by fxsave or xsave. */
static inline const u8 *context_vector(const SignalContext *s, u32 n) {
    enum { VECTORS = 160 };
    return (const u8 *)s->fpstate + VECTORS + 16 * n;
}

/* The flags of the code that was interrupted, without the one by which the client makes it single-step. */
static inline u64 context_flags(const SignalContext *s) {
    return s->rflags & ~(u64)CONTEXT_TRAP_FLAG;
}

/* Sets whether the code gets a SIGTRAP behind its next instruction. */
static inline void context_step(SignalContext *s, bool steps) {
    s->rflags = context_flags(s) | (steps ? CONTEXT_TRAP_FLAG : 0);
}

/* True if the access to memory that has faulted was a write. */
static inline bool context_is_write(const SignalContext *s) {
    enum { FAULT_WRITE = 2 };
    return s->error & FAULT_WRITE;
}

/* True if it is a fault of the stack's segment. An address by rsp or rbp that is not canonical makes one: Linux sends SIGBUS then, and SIGSEGV for an address by
 * another register. */
static inline bool context_is_stack_fault(const SignalContext *s) {
    enum { STACK_FAULT = 12 };
    return s->trap == STACK_FAULT;
}

/* What an x86-64 guest finds in its frames of how and why the CPU faulted. */
static inline u64 context_error(const SignalContext *s) {
    return s->error;
}

static inline u64 context_trap(const SignalContext *s) {
    return s->trap;
}

/* True if the next instruction pushes the flags. If it is single-stepped, it pushes the client's trap flag, too; context_clean_pushed takes that out
 * of the word that was just pushed. */
static inline bool context_pushes_flags(const SignalContext *s) {
    enum { PUSHF = 0x9c, OPERAND_SIZE = 0x66 };
    const u8 *host = (const u8 *)s->rip;
    return host[*host == OPERAND_SIZE] == PUSHF;
}

static inline void context_clean_pushed(const SignalContext *s) {
    *(u8 *)(s->rsp + 1) &= (u8) ~(CONTEXT_TRAP_FLAG >> 8);
}

#endif
