/* hard: a hot loop that LLVM takes long for: many divisions by the same register, each of which may trap. The argument is a number of
 * rounds, in thousands. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t divide(uint64_t rounds) {
    uint64_t sum = 0;
    __asm__("1:\n"
            ".rept 60\n"
            "   lea 3(%0), %%eax\n"
            "   cltd\n"
            "   idivl %2\n"
            "   add %%rax, %0\n"
            "   mov %k0, %%eax\n"
            "   and $0xffff, %%eax\n"
            "   mov $1, %%edx\n"
            "   idivl %2\n"
            "   add %%rdx, %0\n"
            ".endr\n"
            "   sub $1, %1\n"
            "   jnz 1b\n"
            : "+r"(sum), "+r"(rounds)
            : "r"(7)
            : "rax", "rdx", "cc");
    return sum;
}

int main(int argc, char **argv) {
    printf("%llx\n", (unsigned long long)divide((argc > 1 ? strtoull(argv[1], NULL, 10) : 1) << 10));
    return 0;
}
