/* stencils.S: into a stencil and out of it; see stencils_own.c. The offsets are those of a StencilFrame. */
#define FRAME_CPU 0
#define FRAME_CODE 8
#define FRAME_LEAVE 16
#define FRAME_ADDRESS 32
#define FRAME_REG(n) (64 + 8 * (n))
#define FRAME_XMM(n) (320 + 16 * (n))

#define EACH_HELD(M) M(rbx, 3) M(rbp, 5) M(rsi, 6) M(rdi, 7) M(r8, 8) M(r9, 9) M(r10, 10) M(r12, 12) M(r14, 14) M(r15, 15)
#define EACH_XMM(M) M(0) M(1) M(2) M(3) M(4) M(5) M(6) M(7) M(8) M(9) M(10) M(11)
#define LOAD(name, n) mov FRAME_REG(n)(%rax), %name;
#define LOAD_XMM(n) movups FRAME_XMM(n)(%rax), %xmm##n;
#define STORE(name, n) mov %name, FRAME_REG(n)(%rcx);
#define STORE_XMM(n) movups %xmm##n, FRAME_XMM(n)(%rcx);

/* void stencils_enter(StencilFrame *) */
    .text
    .globl stencils_enter
stencils_enter:
    push %rbx
    push %rbp
    push %r12
    push %r13
    push %r14
    push %r15
    mov %rdi, %rax
    mov FRAME_CPU(%rax), %r13
    EACH_HELD(LOAD)
    EACH_XMM(LOAD_XMM)
    jmp *FRAME_CODE(%rax)

/* Stencils leave to here with the frame in rcx, and a guest address in rax if there is one. */
    .globl stencils_leave
stencils_leave:
    mov %rax, FRAME_ADDRESS(%rcx)
    EACH_HELD(STORE)
    EACH_XMM(STORE_XMM)
    pop %r15
    pop %r14
    pop %r13
    pop %r12
    pop %rbp
    pop %rbx
    ret

/* A helper is called with its address in the eight bytes behind the call that led here, and a byte that says whether its first argument is the state. */
    .globl stencils_help
stencils_help:
    push %rax
    push %rcx
    push %rdx
    push %rsi
    push %rdi
    push %r8
    push %r9
    push %r10
    push %r11
    push %rbp
    mov %rsp, %rbp
    sub $256, %rsp
    and $-16, %rsp
#define KEEP(n) movups %xmm##n, 16 * n(%rsp);
#define TAKE(n) movups 16 * n(%rsp), %xmm##n;
#define EACH(M) EACH_XMM(M) M(12) M(13) M(14) M(15)
    EACH(KEEP)
    mov 80(%rbp), %r10 /* the place behind the call */
    cmpb $0, 8(%r10)
    jne 1f
    mov %rcx, %rdi
    mov %rdx, %rsi
    mov %r11, %rdx
    mov %rax, %rcx
    jmp 2f
1:  mov %rax, %r8
    mov %rcx, %rsi
    mov %r11, %rcx
    mov %r13, %rdi
2:  call *(%r10)
    EACH(TAKE)
    mov %rbp, %rsp
    pop %rbp
    pop %r11
    pop %r10
    pop %r9
    pop %r8
    pop %rdi
    pop %rsi
    pop %rdx
    pop %rcx
    add $16, %rsp /* rax is the result; behind the call are bytes */
    ret
    .section .note.GNU-stack, "", @progbits
