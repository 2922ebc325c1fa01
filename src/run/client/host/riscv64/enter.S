/* enter.S: between C and translated code.
 *
 * Translated code has the guest's whole state in the Thread whenever one of its functions begins or ends. It has C's convention, with the Thread in a0. */

#include "host_offsets.h"
#include "host_stub_parts.h"

/* Go on in the code that a C function void *f(Thread *) gives. */
.macro ask function
    addi sp, sp, -16
    sd a0, 0(sp)
    sd ra, 8(sp)
    call \function
    mv t1, a0
    ld a0, 0(sp)
    ld ra, 8(sp)
    addi sp, sp, 16
    jr t1
.endm

.text

/* void code_enter(Thread *t, void *code): run translated code until it returns; the whole state is then in *t. */
.globl code_enter
.hidden code_enter
code_enter:
    jr a1

/* Stubs of functions that are not translated yet come here with their own address and STUB_LINK in t2. */
.globl lathe_lazy
.hidden lathe_lazy
lathe_lazy:
    ld t1, STUB_PC - STUB_LINK(t2)
    sd t1, CPU_PC(a0)

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
    li t1, THREAD_LIMIT
    add t1, t1, a0
    ld t1, 0(t1)
    bgtu sp, t1, lathe_miss

/* Back to the dispatcher, which goes on at cpu->pc. */
.globl lathe_leave
.hidden lathe_leave
lathe_leave:
    ret

/* void thread_start(Thread *t, u64 stack_top): leave this stack for good. */
.globl thread_start
.hidden thread_start
thread_start:
    mv sp, a1
    li s0, 0
    call thread_run
    unimp

.section .note.GNU-stack, "", %progbits
