/* What compilers seldom write, and may: functions in assembly. */
#include <stdio.h>

/* An argument is the result, on one of two ways. */
double pick(double x, int which);
__asm__(".text\n"
        ".type pick, @function\n"
        "pick:\n"
        "    test %edi, %edi\n"
        "    je 1f\n"
        "    ret\n"
        "1:  mov $0x3ff0000000000000, %rax\n"
        "    movq %rax, %xmm0\n"
        "    ret\n"
        ".size pick, .-pick\n");

/* Three vectors of a frame overlap: the place that they make begins where only the third is aligned. */
long overlap(long x);
__asm__(".type overlap, @function\n"
        "overlap:\n"
        "    sub $56, %rsp\n"
        "    movq %rdi, %xmm0\n"
        "    punpcklqdq %xmm0, %xmm0\n"
        "    pcmpeqd %xmm1, %xmm1\n"
        "    movups %xmm1, 8(%rsp)\n"
        "    movaps %xmm0, 16(%rsp)\n"
        "    movups %xmm1, 24(%rsp)\n"
        "    movaps 16(%rsp), %xmm2\n"
        "    paddq %xmm2, %xmm0\n"
        "    movq %xmm0, %rax\n"
        "    add 8(%rsp), %rax\n"
        "    movaps 16(%rsp), %xmm2\n"
        "    punpckhqdq %xmm2, %xmm2\n"
        "    movq %xmm2, %rdx\n"
        "    lea (%rax,%rdx,4), %rax\n"
        "    add $56, %rsp\n"
        "    ret\n"
        ".size overlap, .-overlap\n");

/* Two functions jump to each other with one word less on the stack each time: how far they look above their frames has no end. */
long ping(long rounds, long sum);
__asm__(".type ping, @function\n"
        "ping:\n"
        "    test %rdi, %rdi\n"
        "    je 1f\n"
        "    dec %rdi\n"
        "    add 8(%rsp), %rsi\n"
        "    pop %rcx\n"
        "    mov %rcx, (%rsp)\n"
        "    jmp pong\n"
        "1:  mov %rsi, %rax\n"
        "    ret\n"
        ".size ping, .-ping\n"
        ".type pong, @function\n"
        "pong:\n"
        "    test %rdi, %rdi\n"
        "    je 1f\n"
        "    dec %rdi\n"
        "    sub 8(%rsp), %rsi\n"
        "    pop %rcx\n"
        "    mov %rcx, (%rsp)\n"
        "    jmp ping\n"
        "1:  mov %rsi, %rax\n"
        "    ret\n"
        ".size pong, .-pong\n"
        ".type call_pong, @function\n"
        "call_pong:\n"
        "    call pong\n"
        "    ret\n"
        ".size call_pong, .-call_pong\n");

long call_pong(long rounds, long sum);

int main(int argc, char **argv) {
    (void)argv;
    printf("%.1f %.1f\n", pick(7.5, argc), pick(8.5, argc - 1));
    printf("%ld\n", overlap(5));
    printf("%ld %ld\n", ping(0, 11), call_pong(0, 12));
    return 0;
}
