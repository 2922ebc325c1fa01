/* enter.S: between C and translated code.
 *
 * Translated code keeps ten guest registers (CPU_SLOT in the guest's guest_cpu.h) in rax rcx rdx rdi rsi r8 r9 r12 r13 r14 and
 * sixteen in xmm0–15, and has the Thread in r15 on entry and the guest's next pc there on return. r10 and r11 are free, rbx and rbp
 * are nobody's. Host stacks are aligned as for C. */

#include "run/client/offsets.h"

#define EACH_FLOAT(M) M(0) M(1) M(2) M(3) M(4) M(5) M(6) M(7) M(8) M(9) M(10) M(11) M(12) M(13) M(14) M(15)
#define SAVE_FLOAT(n) MOVE_FLOAT %xmm##n, CPU_FLOAT_SLOT(n)(\base);
#define LOAD_FLOAT(n) MOVE_FLOAT CPU_FLOAT_SLOT(n)(\base), %xmm##n;

.macro save base
    mov %rax, CPU_SLOT(0)(\base)
    mov %rcx, CPU_SLOT(1)(\base)
    mov %rdx, CPU_SLOT(2)(\base)
    mov %rdi, CPU_SLOT(3)(\base)
    mov %rsi, CPU_SLOT(4)(\base)
    mov %r8,  CPU_SLOT(5)(\base)
    mov %r9,  CPU_SLOT(6)(\base)
    mov %r12, CPU_SLOT(7)(\base)
    mov %r13, CPU_SLOT(8)(\base)
    mov %r14, CPU_SLOT(9)(\base)
    EACH_FLOAT(SAVE_FLOAT)
.endm

.macro restore base
    mov CPU_SLOT(0)(\base), %rax
    mov CPU_SLOT(1)(\base), %rcx
    mov CPU_SLOT(2)(\base), %rdx
    mov CPU_SLOT(3)(\base), %rdi
    mov CPU_SLOT(4)(\base), %rsi
    mov CPU_SLOT(5)(\base), %r8
    mov CPU_SLOT(6)(\base), %r9
    mov CPU_SLOT(7)(\base), %r12
    mov CPU_SLOT(8)(\base), %r13
    mov CPU_SLOT(9)(\base), %r14
    EACH_FLOAT(LOAD_FLOAT)
.endm

/* Go on in the code that a C function void *f(Thread *) gives. */
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

/* A lifted function that goes on at cpu->pc, wherever that is. */
.globl lathe_miss
.hidden lathe_miss
lathe_miss:
    ask code_resolve

/* The same where the code at cpu->pc has changed since it was translated. */
.globl lathe_stale
.hidden lathe_stale
lathe_stale:
    ask code_renew

/* The same for jumps. These may go on for ever without a return, so once the host's stack gets low they return to the
 * dispatcher at its bottom: no frame in between expects this pc, or it is right to go on there. */
.globl lathe_jump_miss
.hidden lathe_jump_miss
lathe_jump_miss:
    cmp THREAD_STACK_LIMIT(%r15), %rsp
    ja lathe_miss
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
