/* stencils_aarch64.S: into a stencil and out of it, on aarch64; see runner_stencils.c. The offsets are those of a StencilFrame. */
#define FRAME_CPU 0
#define FRAME_CODE 8
#define FRAME_EXIT 24
#define FRAME_ADDRESS 32
#define FRAME_REG(n) (64 + 8 * (n))

#define EACH_PAIR(M) M(0, 1) M(2, 3) M(4, 5) M(6, 7) M(21, 22) M(23, 24) M(25, 26) M(27, 28)
#define LOAD(a, b) ldp x##a, x##b, [x16, FRAME_REG(a)];
#define STORE(a, b) stp x##a, x##b, [x17, FRAME_REG(a)];

/* void stencils_enter(StencilFrame *) */
    .text
    .globl stencils_enter
stencils_enter:
    stp x29, x30, [sp, #-112]!
    stp x19, x20, [sp, #16]
    stp x21, x22, [sp, #32]
    stp x23, x24, [sp, #48]
    stp x25, x26, [sp, #64]
    stp x27, x28, [sp, #80]
    mov x16, x0
    adrp x17, entered
    add x17, x17, :lo12:entered
    mov x9, sp
    stp x16, x9, [x17]
    ldr x20, [x16, FRAME_CPU]
    EACH_PAIR(LOAD)
    ldr x17, [x16, FRAME_CODE]
    br x17

/* Stencils leave to here with the exit's number in x16, and a guest address in x9 if there is one. The state and the stack are as they were. */
    .globl stencils_leave
stencils_leave:
    adrp x17, entered
    add x17, x17, :lo12:entered
    ldp x17, x18, [x17]
    str x16, [x17, FRAME_EXIT]
    str x9, [x17, FRAME_ADDRESS]
    EACH_PAIR(STORE)
    mov x9, sp
    cmp x9, x18
    b.ne 1f
    ldr x9, [x17, FRAME_CPU]
    cmp x9, x20
    b.ne 1f
    ldp x19, x20, [sp, #16]
    ldp x21, x22, [sp, #32]
    ldp x23, x24, [sp, #48]
    ldp x25, x26, [sp, #64]
    ldp x27, x28, [sp, #80]
    ldp x29, x30, [sp], #112
    ret
1:  brk #1

/* Copied to the area. */
    .globl stencils_exit, stencils_exit_end, stencils_helper, stencils_helper_end
stencils_exit:
    ldr x16, 1f
    ldr x17, 2f
    br x17
    nop
1:  .quad 0 /* the exit's number */
2:  .quad 0
stencils_exit_end:
stencils_helper:
    ldr x16, 1f
    ldr x17, 2f
    br x17
    nop
1:  .quad 0 /* the helper */
2:  .quad 0
stencils_helper_end:

/* The helper is in x16, its arguments from x10 on, and its result goes to x10. Everything else but x16 and x17 is kept. */
#define EACH_KEPT(M) M(0, 1) M(2, 3) M(4, 5) M(6, 7) M(8, 9) M(12, 13) M(14, 15) M(18, 30)
#define EACH_VECTORS(M) M(0, 1) M(2, 3) M(4, 5) M(6, 7) M(8, 9) M(10, 11) M(12, 13) M(14, 15) \
    M(16, 17) M(18, 19) M(20, 21) M(22, 23) M(24, 25) M(26, 27) M(28, 29) M(30, 31)
#define KEEP(a, b) stp x##a, x##b, [sp, #-16]!;
#define KEEP_VECTORS(a, b) stp q##a, q##b, [sp, #-32]!;
    .globl stencils_help, stencils_help_state
stencils_help:
    EACH_KEPT(KEEP)
    str x11, [sp, #-16]!
    EACH_VECTORS(KEEP_VECTORS)
    mov x0, x10
    mov x1, x11
    mov x2, x12
    mov x3, x13
    mov x4, x14
    mov x5, x15
    b 1f
stencils_help_state:
    EACH_KEPT(KEEP)
    str x11, [sp, #-16]!
    EACH_VECTORS(KEEP_VECTORS)
    mov x0, x20
    mov x1, x10
    mov x2, x11
    mov x3, x12
    mov x4, x13
    mov x5, x14
    mov x6, x15
1:  blr x16
    mov x10, x0
    ldp q30, q31, [sp], #32
    ldp q28, q29, [sp], #32
    ldp q26, q27, [sp], #32
    ldp q24, q25, [sp], #32
    ldp q22, q23, [sp], #32
    ldp q20, q21, [sp], #32
    ldp q18, q19, [sp], #32
    ldp q16, q17, [sp], #32
    ldp q14, q15, [sp], #32
    ldp q12, q13, [sp], #32
    ldp q10, q11, [sp], #32
    ldp q8, q9, [sp], #32
    ldp q6, q7, [sp], #32
    ldp q4, q5, [sp], #32
    ldp q2, q3, [sp], #32
    ldp q0, q1, [sp], #32
    ldr x11, [sp], #16
    ldp x18, x30, [sp], #16
    ldp x14, x15, [sp], #16
    ldp x12, x13, [sp], #16
    ldp x8, x9, [sp], #16
    ldp x6, x7, [sp], #16
    ldp x4, x5, [sp], #16
    ldp x2, x3, [sp], #16
    ldp x0, x1, [sp], #16
    ret

    .bss
    .balign 16
entered: .skip 16 /* the frame, and the stack pointer */
    .section .note.GNU-stack, "", @progbits
