/* carries.c: functions that return flags, as hand-written code and some compilers have them: called directly, by pointer and in turn. */
#include <stdio.h>

__asm__(".globl add_flags, add_flags_drop, is_odd, collatz, twice\n"
        "add_flags: mov %rdi, %rax\n add %rsi, %rax\n ret\n"
        "add_flags_drop: mov %rdi, %rax\n add %rsi, %rax\n ret $16\n"
        "is_odd: test $1, %dil\n jz 1f\n stc\n ret\n 1: clc\n ret\n"
        /* one step: the result in rdi; carry if it was odd */
        "collatz: call is_odd\n jc 1f\n shr $1, %rdi\n clc\n ret\n 1: lea 1(%rdi,%rdi,2), %rdi\n stc\n ret\n"
        /* the flags of what it calls last */
        "twice: push %rsi\n call add_flags\n mov %rax, %rdi\n pop %rsi\n call add_flags\n ret\n");

#define FLAGS "\n pushfq\n popq %%rdx\n"

static unsigned long with(unsigned long a, unsigned long b, int how) {
    unsigned long flags = 0, sum = a;
    switch (how) {
    case 0:
        __asm__ volatile("sub $128, %%rsp\n call add_flags" FLAGS "lea 128(%%rsp), %%rsp"
                         : "+D"(sum), "=d"(flags) : "S"(b) : "rax", "cc", "memory");
        break;
    case 1:
        __asm__ volatile("sub $128, %%rsp\n lea add_flags(%%rip), %%rcx\n call *%%rcx" FLAGS "lea 128(%%rsp), %%rsp"
                         : "+D"(sum), "=d"(flags) : "S"(b) : "rax", "rcx", "cc", "memory");
        break;
    case 2:
        __asm__ volatile("sub $128, %%rsp\n push %%rsi\n push %%rsi\n call add_flags_drop" FLAGS "lea 128(%%rsp), %%rsp"
                         : "+D"(sum), "=d"(flags) : "S"(b) : "rax", "cc", "memory");
        break;
    case 3:
        __asm__ volatile("sub $128, %%rsp\n call twice" FLAGS "lea 128(%%rsp), %%rsp"
                         : "+D"(sum), "=d"(flags) : "S"(b) : "rax", "cc", "memory");
        break;
    }
    return flags & 0x8d5;
}

static long odd_steps(unsigned long n) {
    long count = 0;
    while (n != 1) {
        unsigned char odd;
        __asm__ volatile("sub $128, %%rsp\n call collatz\n setc %1\n lea 128(%%rsp), %%rsp"
                         : "+D"(n), "=&r"(odd) : : "cc", "memory");
        count += odd;
    }
    return count;
}

int main(void) {
    static const unsigned long v[] = {0, 1, -1ul, 1ul << 63, ~0ul >> 1, 0x10, 0xf, 0x123456789abcdef};
    unsigned long hash = 0;
    for (int round = 0; round < 200; round++)
        for (int how = 0; how < 4; how++)
            for (int i = 0; i < 8; i++)
                for (int j = 0; j < 8; j++) {
                    unsigned long f = with(v[i], v[j], how);
                    hash = hash * 31 + f;
                    if (!round && i < 4)
                        printf("%lx%c", f, j == 7 ? '\n' : ' ');
                }
    printf("%lx\n", hash);
    long steps = 0;
    for (unsigned long n = 1; n < 20000; n++)
        steps += odd_steps(n);
    printf("%ld\n", steps);
    return 0;
}
