/* enter.S: between C and translated code.
 *
 * Translated code has C's convention: it keeps seven guest registers (CPU_SLOT in the guest's guest_slots.h) in x0–x6 and eight (CPU_FLOAT_SLOT) in v0–v7,
 * and has the Thread in x7 on entry and the guest's next pc there on return. */

#include "host_slots.h"

/* Go on in the code that a C function void *f(Thread *) gives. */
.macro ask function
    save x7
    stp x7, x30, [sp, #-16]!
    mov x0, x7
    bl \function
    mov x16, x0
    ldp x7, x30, [sp], #16
    restore x7
    br x16
.endm

.text

/* void code_enter(Thread *t, void *code): run translated code until it returns; the whole state is then in *t. */
.globl code_enter
.hidden code_enter
code_enter:
    stp x29, x30, [sp, #-32]!
    mov x29, sp
    str x0, [sp, #16]
    mov x16, x1
    mov x7, x0
    restore x7
    blr x16
    ldr x16, [sp, #16]
    str x7, [x16, #CPU_PC]
    save x16
    ldp x29, x30, [sp], #32
    ret

/* Stubs of functions that are not translated yet come here with the guest address in x17. */
.globl lathe_lazy
.hidden lathe_lazy
lathe_lazy:
    str x17, [x7, #CPU_PC]

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
    ldr x16, [x7, #THREAD_LIMIT]
    mov x17, sp
    cmp x17, x16
    b.hi lathe_miss

/* Back to the dispatcher, which goes on at cpu->pc. */
.globl lathe_leave
.hidden lathe_leave
lathe_leave:
    ldr x7, [x7, #CPU_PC]
    ret

/* void thread_start(Thread *t, u64 stack_top): leave this stack for good. */
.globl thread_start
.hidden thread_start
thread_start:
    mov sp, x1
    mov x29, #0
    bl thread_run
    brk #0

.section .note.GNU-stack, "", %progbits
