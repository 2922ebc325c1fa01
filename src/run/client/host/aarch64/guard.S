/* guard.S: system calls of the client that C cannot make.
 *
 * syscall_guarded closes the gap between "no signal is pending" and the system call: a signal that comes in the gap
 * must not wait until a call that may block forever has returned. The host's signal handler (arrive.c) knows the
 * addresses: a thread that it finds between guard_start and guard_syscall goes on at guard_abort. The kernel, too,
 * leaves a call that it is going to restart at guard_syscall, so that the guest's handler comes first and the guest's
 * own instruction is what is restarted.
 */
    .text

/* i64 syscall_guarded(const u64 *pending, u64 number, const u64 args[6]): the kernel's result, or -512: not executed */
    .globl syscall_guarded, guard_start, guard_syscall, guard_returned, guard_abort
    .hidden syscall_guarded, guard_start, guard_syscall, guard_returned, guard_abort
    .type syscall_guarded, %function
syscall_guarded:
    mov x9, x0
    mov x8, x1
    mov x10, x2
    ldp x0, x1, [x10]
    ldp x2, x3, [x10, #16]
    ldp x4, x5, [x10, #32]
guard_start:
    ldr x11, [x9]
    cbnz x11, guard_abort
guard_syscall:
    svc #0
guard_returned:
    ret
guard_abort:
    mov x0, #-512
    ret
    .size syscall_guarded, . - syscall_guarded

/* bool copy_guarded(void *to, const void *from, u64 size): a multiple of 8 bytes; false if some of `from` cannot be read: the host's signal handler goes on at
 * guard_copy_failed */
    .globl copy_guarded, guard_copy, guard_copy_failed
    .hidden copy_guarded, guard_copy, guard_copy_failed
    .type copy_guarded, %function
copy_guarded:
    subs x2, x2, #8
    b.lo 1f
guard_copy:
    ldr x9, [x1, x2]
    str x9, [x0, x2]
    b copy_guarded
1:  mov w0, #1
    ret
guard_copy_failed:
    mov w0, #0
    ret
    .size copy_guarded, . - copy_guarded

/* i64 clone_on_stack(u64 flags, u64 stack_top, u64 parent_tid, u64 child_tid, u64 tls, Thread *child): the child begins
 * with process_child_start(child) on that stack */
    .globl clone_on_stack
    .hidden clone_on_stack
    .type clone_on_stack, %function
clone_on_stack:
    mov x9, x3
    mov x3, x4
    mov x4, x9
    mov x8, #220
    svc #0
    cbnz x0, 1f
    mov x29, #0
    mov x0, x5
    bl process_child_start
    brk #0
1:  ret
    .size clone_on_stack, . - clone_on_stack

/* void fault_with(int sig): a fault of the processor for which the kernel sends this signal; returns if there is none */
    .globl fault_with
    .hidden fault_with
    .type fault_with, %function
fault_with:
    cmp w0, #4
    b.eq 1f
    cmp w0, #5
    b.eq 2f
    cmp w0, #11
    b.eq 3f
    ret
1:  udf #0 /* SIGILL */
2:  brk #0 /* SIGTRAP */
3:  mov x0, #0 /* SIGSEGV */
    ldr x0, [x0]
    ret
    .size fault_with, . - fault_with

/* Where host signal handlers begin. */
    .globl signal_entry
    .hidden signal_entry
    .type signal_entry, %function
signal_entry:
    b signal_arrives
    .size signal_entry, . - signal_entry

/* Where they return to: rt_sigreturn. */
    .globl signal_restorer
    .hidden signal_restorer
    .type signal_restorer, %function
signal_restorer:
    mov x8, #139
    svc #0
    brk #0
    .size signal_restorer, . - signal_restorer

    .section .note.GNU-stack, "", %progbits
