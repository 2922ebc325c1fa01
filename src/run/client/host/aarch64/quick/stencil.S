/* stencil.S: between C and quick code of stencils, and between that and optimised code.
 *
 * Such code has the Thread in x20, some of the guest's registers in the host's (held_registers.h), the others in the Thread, and the host's stack pointer at THREAD_HOST_SP. It
 * leaves by quick_leave with an exit's number in the Thread, and by the others with a guest address in x9. Guest calls and returns are jumps: nothing of them is on the host's stack. */
#include "held_registers.h"
#include "host_slots.h"

#if THREAD_TABLE_PC % 4096 || THREAD_TABLE_CODE % 4096
#error "the tables begin where an instruction can add it"
#endif

.macro hidden name
    .globl \name
    .hidden \name
\name:
.endm

#define SAVE_HELD(slot, number) str x##number, [x20, #CPU_SLOT(slot)];
#define LOAD_HELD(slot, number) ldr x##number, [x20, #CPU_SLOT(slot)];

/* C function n of the Thread says how to go on. */
.macro ask n
    mov x16, #\n
    b asking
.endm

/* To the entry of the table with the address in x9, or on; x16 is its index. */
.macro go_by_table
    add x17, x20, #(THREAD_TABLE_PC / 4096), lsl #12
    ldr x10, [x17, x16, lsl #3]
    cmp x10, x9
    b.eq 8f
    eor x16, x16, #1 /* an entry may be in its neighbour's place */
    ldr x10, [x17, x16, lsl #3]
    cmp x10, x9
    b.ne 9f
8:  add x17, x20, #(THREAD_TABLE_CODE / 4096), lsl #12
    ldr x17, [x17, x16, lsl #3]
    br x17
9:
.endm

.text
    .p2align 6
/* From here to quick_end everything is copied into the arena, near the code that goes through it. */
hidden quick_start

hidden quick_return_by_link
    and x9, HELD_LINK, #-2
/* A return: perhaps out of the function that went over to quick code. */
hidden quick_return_expected
    ldr x16, [x20, #THREAD_EXPECTED_SP]
    cmp HELD_STACK, x16
    b.lo quick_return
    b.hi quick_back
    ldr x16, [x20, #THREAD_EXPECTED]
    cmp x9, x16
    b.eq quick_back
/* A computed jump. */
hidden quick_return
    and x16, x9, #0xffff
    go_by_table
hidden quick_returned
    str x9, [x20, #CPU_PC]
    ask 0

hidden quick_call
    ubfx x16, x9, #4, #16
    go_by_table
    str x9, [x20, #CPU_PC]
    ask 1

hidden quick_back
    ldr x16, [x20, #(THREAD_C_FIRST + 40)]
    br x16

/* A trap in the state, or a system call. */
hidden quick_trap
    str x9, [x20, #CPU_PC]
    ask 2

hidden quick_arrived
    ask 3

hidden quick_leave
    mov x16, #4
asking:
    EACH_HELD(SAVE_HELD)
    mov x0, x20
    add x17, x20, #THREAD_C_FIRST
    ldr x17, [x17, x16, lsl #3]
    blr x17
    ldr x16, [x20, #THREAD_HOST_SP] /* another one, if all code was begun anew meanwhile */
    mov sp, x16

/* From here to quick_end the guest's state is in the Thread, whatever is loaded already. */
hidden quick_resume
    ldr x16, [x20, #THREAD_SIGNALS]
    ldr x17, [x20, #THREAD_STOP]
    orr x16, x16, x17
    cbnz x16, 7f
    EACH_HELD(LOAD_HELD)
    ldr x16, [x20, #THREAD_TARGET]
    br x16
7:  ldr x16, [x20, #(THREAD_C_FIRST + 48)]
    br x16
hidden quick_end

/* Where a host signal handler lets a thread go on whose guest state it has put into the Thread. */
hidden quick_interrupted
    mrs x20, tpidr_el0
    ldr x16, [x20, #THREAD_HOST_SP]
    mov sp, x16
    str xzr, [x20, #THREAD_HELPING]
    mov x0, x20
    bl quick_redirect
    b quick_resume

/* void quick_enter(void): run quick code at t->target; never returns. */
hidden quick_enter
    mrs x20, tpidr_el0
    mov x16, sp
    str x16, [x20, #THREAD_HOST_SP]
    str x16, [x20, #THREAD_HOST_BASE]
    b quick_resume

/* ------------------------------------------------------------------------------------------------------ the other tier
 *
 * Whoever crosses leaves the code to go on with as an offset into the arena in THREAD_EXIT. Optimised code has the first seven of the held registers where quick code has them, and the
 * other ones in the Thread; its Thread is in x7. Quick code that was called by optimised code has a record on the host's stack, at THREAD_HOST_SP: the EXPECTED_SP, EXPECTED and
 * HOST_SP that were there before, and the registers that C's convention keeps. A guest return to EXPECTED goes back there, and so does one with a stack pointer above
 * EXPECTED_SP: a function that went over to quick code in its middle, where the link register may be anything, has returned then, or was left in another way. Whoever waits on the host's
 * stack compares the address, and returns in turn if it is another. Nothing depends on records: without them the guest would go on in quick code. */
#define RECORD 128

.macro count_crossing
    ldr x16, [x20, #THREAD_CROSSINGS]
    add x16, x16, #1
    str x16, [x20, #THREAD_CROSSINGS]
.endm

hidden cross_start

hidden cross_enter
    ldr x16, [x20, #THREAD_LIMIT]
    mov x17, sp
    cmp x17, x16
    b.lo deep
1:  count_crossing
    ldr w16, [x20, #THREAD_EXIT]
    str x16, [x20, #THREAD_CROSSED]
    ldr x17, [x20, #THREAD_ARENA]
    add x16, x16, x17
    EACH_HELD_BY_QUICK(SAVE_HELD)
    load_floats x20
    mov x7, x20
    blr x16
entered:
    mov x9, x7
    mrs x20, tpidr_el0
    save_floats x20
    EACH_HELD_BY_QUICK(LOAD_HELD)
    ldr w16, [x20, #CPU_TRAP]
    cbnz w16, quick_trap
    ldr x16, [x20, #THREAD_SIGNALS]
    cbnz x16, quick_returned
    b quick_return_expected

/* Records that longjmp and the like left behind fill the stack: these begin anew at its bottom. */
deep:
    ldr x16, [x20, #THREAD_HOST_BASE]
    mov sp, x16
    str x16, [x20, #THREAD_HOST_SP]
    mov x16, #-1
    str x16, [x20, #THREAD_EXPECTED]
    str x16, [x20, #THREAD_EXPECTED_SP]
    b 1b

/* Optimised code calls or jumps to quick code. If it is what quick code has entered that jumps, nobody waits for a return. */
hidden cross_leave
    adr x16, entered
    cmp x16, x30
    b.eq 1f
    stp x19, x20, [sp, #-RECORD]!
    stp x21, x22, [sp, #16]
    stp x23, x24, [sp, #32]
    stp x25, x26, [sp, #48]
    stp x27, x28, [sp, #64]
    stp x29, x30, [sp, #80]
    ldr x16, [x7, #THREAD_HOST_SP]
    ldr x17, [x7, #THREAD_EXPECTED]
    stp x16, x17, [sp, #96]
    ldr x16, [x7, #THREAD_EXPECTED_SP]
    str x16, [sp, #112]
    mov x16, sp
    str x16, [x7, #THREAD_HOST_SP]
    ldr x16, [x7, #CPU_LINK]
    str x16, [x7, #THREAD_EXPECTED]
    str HELD_STACK, [x7, #THREAD_EXPECTED_SP]
1:  mov x20, x7
    count_crossing
    save_floats x20
    EACH_HELD_BY_QUICK(LOAD_HELD)
    ldr w16, [x20, #THREAD_EXIT]
    ldr x17, [x20, #THREAD_ARENA]
    add x16, x16, x17
    ldr x17, [x20, #THREAD_SIGNALS]
    cbnz x17, 2f
    br x16
2:  str x16, [x20, #THREAD_TARGET]
    b quick_arrived

/* Quick code returns to who waits, and goes on at the address in x9. */
hidden cross_back
    ldr x16, [x20, #THREAD_HOST_SP]
    mov sp, x16
    EACH_HELD_BY_QUICK(SAVE_HELD)
    load_floats x20
    ldp x16, x17, [sp, #96]
    str x16, [x20, #THREAD_HOST_SP]
    str x17, [x20, #THREAD_EXPECTED]
    ldr x16, [sp, #112]
    str x16, [x20, #THREAD_EXPECTED_SP]
    mov x7, x9
    ldp x21, x22, [sp, #16]
    ldp x23, x24, [sp, #32]
    ldp x25, x26, [sp, #48]
    ldp x27, x28, [sp, #64]
    ldp x29, x30, [sp, #80]
    ldp x19, x20, [sp], #RECORD
    ret
hidden cross_end

.section .note.GNU-stack, "", %progbits
