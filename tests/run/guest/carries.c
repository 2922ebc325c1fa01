/* carries.c: functions that return flags, as hand-written code and some compilers have them: called directly, by pointer and in turn, and
 * in functions that are hot: a loop, and one that calls itself. One is given a flag, too. */
#include <stdio.h>

__asm__(".globl add_flags, add_flags_drop, is_odd, collatz, twice, exceeds, fibonacci, taken\n"
        "add_flags: mov %rdi, %rax\n add %rsi, %rax\n ret\n"
        "add_flags_drop: mov %rdi, %rax\n add %rsi, %rax\n ret $16\n"
        "is_odd: test $1, %dil\n jz 1f\n stc\n ret\n 1: clc\n ret\n"
        /* one step: the result in rdi; carry if it was odd */
        "collatz: call is_odd\n jc 1f\n shr $1, %rdi\n clc\n ret\n 1: lea 1(%rdi,%rdi,2), %rdi\n stc\n ret\n"
        /* the flags of what it calls last */
        "twice: push %rsi\n call add_flags\n mov %rax, %rdi\n pop %rsi\n call add_flags\n ret\n"
        /* compares the sum of rsi words with a thousand */
        "exceeds: xor %eax, %eax\n xor %edx, %edx\n 1: add (%rdi,%rax,4), %edx\n inc %rax\n cmp %rsi, %rax\n jb 1b\n"
        "cmp $1000, %edx\n ret\n"
        /* the result in rax, and compared with ten thousand */
        "fibonacci: push %rdi\n cmp $2, %rdi\n jb 1f\n dec %rdi\n call fibonacci\n mov (%rsp), %rdi\n push %rax\n sub "
        "$2, %rdi\n"
        "call fibonacci\n pop %rdx\n pop %rdi\n add %rdx, %rax\n cmp $10000, %rax\n ret\n"
        "1: mov %rdi, %rax\n pop %rdi\n cmp $10000, %rax\n ret\n"
        "taken: setc %al\n movzbl %al, %eax\n ret\n");

#define FLAGS "\n pushfq\n popq %%rdx\n"

static unsigned long with(unsigned long a, unsigned long b, int how) {
    unsigned long flags = 0, sum = a;
    switch (how) {
    case 0:
        __asm__ volatile("sub $128, %%rsp\n call add_flags" FLAGS "lea 128(%%rsp), %%rsp"
                         : "+D"(sum), "=d"(flags)
                         : "S"(b)
                         : "rax", "cc", "memory");
        break;
    case 1:
        __asm__ volatile("sub $128, %%rsp\n lea add_flags(%%rip), %%rcx\n call *%%rcx" FLAGS "lea 128(%%rsp), %%rsp"
                         : "+D"(sum), "=d"(flags)
                         : "S"(b)
                         : "rax", "rcx", "cc", "memory");
        break;
    case 2:
        __asm__ volatile("sub $128, %%rsp\n push %%rsi\n push %%rsi\n call add_flags_drop" FLAGS "lea 128(%%rsp), %%rsp"
                         : "+D"(sum), "=d"(flags)
                         : "S"(b)
                         : "rax", "cc", "memory");
        break;
    case 3:
        __asm__ volatile("sub $128, %%rsp\n call twice" FLAGS "lea 128(%%rsp), %%rsp"
                         : "+D"(sum), "=d"(flags)
                         : "S"(b)
                         : "rax", "cc", "memory");
        break;
    }
    return flags & 0x8d5;
}

static long odd_steps(unsigned long n) {
    long count = 0;
    while (n != 1) {
        unsigned char odd;
        __asm__ volatile("sub $128, %%rsp\n call collatz\n setc %1\n lea 128(%%rsp), %%rsp"
                         : "+D"(n), "=&r"(odd)
                         :
                         : "cc", "memory");
        count += odd;
    }
    return count;
}

static int hot_loop(void) {
    static int words[20000];
    int above = 0;
    for (int i = 0; i < 20000; i++)
        words[i] = i % 7 == 0;
    for (long n = 5000; n < 11000; n += 2) {
        unsigned char is_above;
        __asm__ volatile("sub $128, %%rsp\n call exceeds\n seta %0\n lea 128(%%rsp), %%rsp"
                         : "=r"(is_above)
                         : "D"(words), "S"(n)
                         : "rax", "rdx", "cc", "memory");
        above += is_above;
    }
    return above;
}

static int hot_recursion(void) {
    int large = 0;
    for (long n = 3; n < 510; n++) {
        unsigned char is_large;
        __asm__ volatile("sub $128, %%rsp\n call fibonacci\n setae %0\n lea 128(%%rsp), %%rsp"
                         : "=r"(is_large)
                         : "D"(10 + n % 17)
                         : "rax", "rdx", "cc", "memory");
        large += is_large;
    }
    return large;
}

static unsigned give(unsigned long a, unsigned long b) {
    unsigned carry;
    __asm__ volatile("sub $128, %%rsp\n cmp %2, %1\n call taken\n lea 128(%%rsp), %%rsp"
                     : "=a"(carry)
                     : "r"(a), "r"(b)
                     : "cc", "memory");
    return carry;
}

int main(void) {
    printf("%u %u\n", give(1, 2), give(2, 1));
    printf("%d above, %d large\n", hot_loop(), hot_recursion());
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
