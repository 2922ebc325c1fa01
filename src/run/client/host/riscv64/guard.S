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
    mv t0, a0
    mv a7, a1
    mv t1, a2
    ld a0, 0(t1)
    ld a1, 8(t1)
    ld a2, 16(t1)
    ld a3, 24(t1)
    ld a4, 32(t1)
    ld a5, 40(t1)
guard_start:
    ld t2, 0(t0)
    bnez t2, guard_abort
guard_syscall:
    ecall
guard_returned:
    ret
guard_abort:
    li a0, -512
    ret
    .size syscall_guarded, . - syscall_guarded

/* bool copy_guarded(void *to, const void *from, u64 size): a multiple of 8 bytes; false if some of `from` cannot be read: the host's signal handler goes on at
 * guard_copy_failed */
    .globl copy_guarded, guard_copy, guard_copy_failed
    .hidden copy_guarded, guard_copy, guard_copy_failed
    .type copy_guarded, %function
copy_guarded:
    beqz a2, 1f
    addi a2, a2, -8
    add t0, a1, a2
guard_copy:
    ld t1, 0(t0)
    add t0, a0, a2
    sd t1, 0(t0)
    j copy_guarded
1:  li a0, 1
    ret
guard_copy_failed:
    li a0, 0
    ret
    .size copy_guarded, . - copy_guarded

/* i64 clone_on_stack(u64 flags, u64 stack_top, u64 parent_tid, u64 child_tid, u64 tls, Thread *child): the child begins
 * with process_child_start(child) on that stack */
    .globl clone_on_stack
    .hidden clone_on_stack
    .type clone_on_stack, %function
clone_on_stack:
    mv t0, a3
    mv a3, a4
    mv a4, t0
    li a7, 220
    ecall
    bnez a0, 1f
    li s0, 0
    mv a0, a5
    call process_child_start
    unimp
1:  ret
    .size clone_on_stack, . - clone_on_stack

/* void fault_with(int sig): a fault of the processor for which the kernel sends this signal; returns if there is none */
    .globl fault_with
    .hidden fault_with
    .type fault_with, %function
fault_with:
    li t0, 4
    beq a0, t0, 1f
    li t0, 5
    beq a0, t0, 2f
    li t0, 11
    beq a0, t0, 3f
    ret
1:  unimp /* SIGILL */
2:  ebreak /* SIGTRAP */
3:  ld a0, 0(zero) /* SIGSEGV */
    ret
    .size fault_with, . - fault_with

/* Where host signal handlers begin. The kernel has them return to code in its vdso, which is removed; so they return behind this. */
    .globl signal_entry, signal_restorer
    .hidden signal_entry, signal_restorer
    .type signal_entry, %function
signal_entry:
    call signal_arrives
/* rt_sigreturn, with the stack pointer as at the entry. */
signal_restorer:
    li a7, 139
    ecall
    unimp
    .size signal_entry, . - signal_entry

    .section .note.GNU-stack, "", %progbits
