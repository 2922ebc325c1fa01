/* guard.S: what the client cannot do in C: system calls that a signal may prevent, reads that may fault, starting threads.
 *
 * syscall_guarded closes the gap between "no signal is pending" and the system call: a signal that comes in the gap must not wait until a call that
 * may block for ever has returned. The host's signal handler (arrive.c) knows the addresses: a thread that it finds between guard_start and
 * guard_syscall goes on at guard_abort. When the kernel is going to restart a call, it has put the thread back to guard_syscall; this one is aborted,
 * too, so that the guest's handler comes first, and then the guest's own instruction makes the call again. */
    .text

/* i64 syscall_guarded(const u64 *pending, u64 number, const u64 args[6]): the kernel's result, or -512: not executed */
    .globl syscall_guarded, guard_start, guard_syscall, guard_returned, guard_abort
    .hidden syscall_guarded, guard_start, guard_syscall, guard_returned, guard_abort
    .type syscall_guarded, @function
syscall_guarded:
    mov %rdi, %rcx
    mov %rsi, %rax
    mov %rdx, %r11
    mov 0(%r11), %rdi
    mov 8(%r11), %rsi
    mov 16(%r11), %rdx
    mov 24(%r11), %r10
    mov 32(%r11), %r8
    mov 40(%r11), %r9
guard_start:
    cmpq $0, (%rcx)
    jne guard_abort
guard_syscall:
    syscall
guard_returned:
    ret
guard_abort:
    mov $-512, %rax
    ret
    .size syscall_guarded, . - syscall_guarded

/* bool copy_guarded(void *to, const void *from, u64 size): copies a multiple of 8 bytes. If some of `from` cannot be read, the handler of the fault
 * at guard_copy lets the thread go on at guard_copy_failed, and the function returns false. */
    .globl copy_guarded, guard_copy, guard_copy_failed
    .hidden copy_guarded, guard_copy, guard_copy_failed
    .type copy_guarded, @function
copy_guarded:
    sub $8, %rdx
    jb 1f
guard_copy:
    mov (%rsi,%rdx), %rax
    mov %rax, (%rdi,%rdx)
    jmp copy_guarded
1:  mov $1, %eax
    ret
guard_copy_failed:
    xor %eax, %eax
    ret
    .size copy_guarded, . - copy_guarded

/* i64 clone_on_stack(u64 flags, u64 stack_top, u64 parent_tid, u64 child_tid, u64 tls, Thread *child): the child begins
 * with process_child_start(child) on that stack */
    .globl clone_on_stack
    .hidden clone_on_stack
    .type clone_on_stack, @function
clone_on_stack:
    mov %rcx, %r10
    mov $56, %eax
    syscall
    test %rax, %rax
    jnz 1f
    xor %ebp, %ebp
    mov %r9, %rdi
    call process_child_start
    ud2
1:  ret
    .size clone_on_stack, . - clone_on_stack

/* void fault_with(int sig): a fault of the processor for which the kernel sends this signal; returns if there is none */
    .globl fault_with
    .hidden fault_with
    .type fault_with, @function
fault_with:
    cmp $4, %edi
    je 1f
    cmp $5, %edi
    je 2f
    cmp $7, %edi
    je 3f
    cmp $8, %edi
    je 4f
    cmp $11, %edi
    je 5f
    ret
1:  ud2 /* SIGILL */
2:  int3 /* SIGTRAP */
3:  pushf /* SIGBUS: an access that is not aligned, where that is checked */
    orl $0x40000, (%rsp)
    popf
    mov 1(%rsp), %rax
4:  xor %ecx, %ecx /* SIGFPE */
    div %ecx
5:  hlt /* SIGSEGV */
    .size fault_with, . - fault_with

/* Where host signal handlers begin. */
    .globl signal_entry
    .hidden signal_entry
    .type signal_entry, @function
signal_entry:
    jmp signal_arrives
    .size signal_entry, . - signal_entry

/* Where they return to: rt_sigreturn. */
    .globl signal_restorer
    .hidden signal_restorer
    .type signal_restorer, @function
signal_restorer:
    mov $15, %eax
    syscall
    ud2
    .size signal_restorer, . - signal_restorer

    .section .note.GNU-stack, "", @progbits
