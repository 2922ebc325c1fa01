/* x86_context.h: ucontext_t of x86-64 Linux, up to the part that the kernel writes. It gets the name X86_CONTEXT: where the host is of this kind, the type is what the
 * client's own signal handlers find, too. */
#ifndef X86_CONTEXT_H
#define X86_CONTEXT_H

#include "base/base.h"

typedef struct X86_CONTEXT {
    u64 flags, link;
    u64 stack;
    u32 stack_flags, reserved0;
    u64 stack_size;
    u64 r8, r9, r10, r11, r12, r13, r14, r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip, rflags;
    u16 cs, gs, fs, ss;
    u64 error, trap, old_mask, cr2, fpstate, reserved[8];
    u64 mask;
} X86_CONTEXT;

_Static_assert(sizeof(X86_CONTEXT) == 304, "the kernel's layout");

#endif
