/* places: a function with vector instructions that have no meaning in the lifter at PLACES places, five others between each two. */
#include <stdint.h>
#include <stdio.h>

#define TEXT(x) TEXT_OF(x)
#define TEXT_OF(x) #x

static uint32_t mix(uint64_t rounds) {
    static uint32_t numbers[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    uint32_t sum;
    uint64_t state = 5;
    __asm__("vxorps %%ymm0, %%ymm0, %%ymm0\n"
            "1:\n"
            ".rept " TEXT(PLACES) "\n"
                                  "   lea 3(%1), %%eax\n"
                                  "   add %%rax, %1\n"
                                  "   mov %k1, 8(%3)\n"
                                  "   vmovdqu (%3), %%ymm1\n"
                                  "   vpaddd %%ymm1, %%ymm0, %%ymm0\n"
                                  "   xor $5, %1\n"
                                  "   rol $3, %1\n"
                                  ".endr\n"
                                  "   sub $1, %2\n"
                                  "   jnz 1b\n"
                                  "   vextracti128 $1, %%ymm0, %%xmm1\n"
                                  "   vpaddd %%xmm1, %%xmm0, %%xmm0\n"
                                  "   vmovd %%xmm0, %0\n"
                                  "   vzeroupper\n"
            : "=r"(sum), "+r"(state), "+r"(rounds)
            : "r"(numbers)
            : "rax", "xmm0", "xmm1", "memory", "cc");
    return sum + (uint32_t)state;
}

int main(void) {
    printf("%x\n", mix(100));
    return 0;
}
