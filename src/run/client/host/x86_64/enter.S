/* enter.S: between C and translated code.
 *
 * Translated code keeps ten guest registers (CPU_SLOT in the guest's guest_slots.h) in rax rcx rdx rdi rsi r8 r9 r12 r13 r14 and
 * up to sixteen (CPU_FLOAT_SLOT) in xmm0–15, and has the Thread in r15 on entry and the guest's next pc there on return. r10 and r11 are free, rbx and rbp
 * are nobody's. Host stacks are aligned as for C. */

#include "host_slots.h"

/* Calls a C function void *f(Thread *), and goes on in the code whose address it returns. */
.macro ask function
    save %r15
    sub $8, %rsp
    mov %r15, %rdi
    call \function
    add $8, %rsp
    mov %rax, %r11
    restore %r15
    jmp *%r11
.endm

.text

/* void code_enter(Thread *t, void *code): run translated code until it returns; the whole state is then in *t. */
.globl code_enter
.hidden code_enter
code_enter:
    push %rbx
    push %rbp
    push %r12
    push %r13
    push %r14
    push %r15
    push %rdi
    mov %rdi, %r15
    mov %rsi, %r11
    restore %r15
    call *%r11
    mov (%rsp), %r11
    mov %r15, CPU_PC(%r11)
    save %r11
    pop %rdi
    pop %r15
    pop %r14
    pop %r13
    pop %r12
    pop %rbp
    pop %rbx
    ret

/* Stubs of functions that are not translated yet come here with the guest address in r11. */
.globl lathe_lazy
.hidden lathe_lazy
lathe_lazy:
    mov %r11, CPU_PC(%r15)

/* Translated code comes here to go on at cpu->pc, for which its thread's table has no code. */
.globl lathe_miss
.hidden lathe_miss
lathe_miss:
    ask code_resolve

/* The same for a translation at cpu->pc whose guest code has changed since it was made. */
.globl lathe_stale
.hidden lathe_stale
lathe_stale:
    ask code_renew

/* The same for computed jumps. A program may make such jumps for ever without a return, and each leaves frames on the host's stack. So once the stack
 * gets low, a jump returns to the dispatcher at its bottom instead. The frames in between compare the pc with the one that they wait for; if one of
 * them finds it equal, it is right to go on there. */
.globl lathe_jump_miss
.hidden lathe_jump_miss
lathe_jump_miss:
    cmp THREAD_LIMIT(%r15), %rsp
    ja lathe_miss

/* Returns to the dispatcher (thread_run), which goes on at cpu->pc. */
.globl lathe_leave
.hidden lathe_leave
lathe_leave:
    mov CPU_PC(%r15), %r15
    ret

/* void thread_start(Thread *t, u64 stack_top): leave this stack for good. */
.globl thread_start
.hidden thread_start
thread_start:
    mov %rsi, %rsp
    xor %ebp, %ebp
    call thread_run
    ud2

.section .note.GNU-stack, "", @progbits
