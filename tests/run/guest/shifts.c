/* shifts.c: shifts of two 16-bit registers by more than 16, which the manual leaves undefined: each CPU has its own result, and all code of a program the
 * same one. */
#include <stdint.h>
#include <stdio.h>

static uint16_t left(uint16_t a, uint16_t b, unsigned n) {
    __asm__("shldw %%cl, %1, %0" : "+r"(a) : "r"(b), "c"(n) : "cc");
    return a;
}

static uint16_t right(uint16_t a, uint16_t b, unsigned n) {
    __asm__("shrdw %%cl, %1, %0" : "+r"(a) : "r"(b), "c"(n) : "cc");
    return a;
}

/* The counts are in the instructions. */
static uint32_t constant(uint16_t a, uint16_t b) {
    uint16_t c = a, d = a, e = a;
    __asm__("shldw $19, %1, %0" : "+r"(a) : "r"(b) : "cc");
    __asm__("shrdw $31, %1, %0" : "+r"(c) : "r"(b) : "cc");
    __asm__("shldw $16, %1, %0" : "+r"(d) : "r"(b) : "cc");
    __asm__("shldw $32, %1, %0" : "+r"(e) : "r"(b) : "cc");
    return (uint32_t)(a * 31 + c) * 31 + d * 31u + e;
}

int main(void) {
    uint64_t sum = 0;
    for (unsigned n = 0; n < 40; n++)
        printf("%u %x %x\n", n, left(0x1234, 0xabcd, n), right(0x1234, 0xabcd, n));
    for (uint32_t i = 0; i < 300000; i++)
        sum = sum * 31 + left((uint16_t)(i * 7), (uint16_t)(i * 13), i) +
              right((uint16_t)(i * 5), (uint16_t)(i * 11), i / 3) + constant((uint16_t)i, (uint16_t)(i * 3));
    printf("%lx\n", (unsigned long)sum);
    return 0;
}
