/* helpers_bits.c: multiplication without carries, for hosts that may lack it. */
#include "isa/riscv64/helpers.h"

/* 64 bits of the 127-bit product, from the given bit on. */
static u64 clmul(u64 a, u64 b, u64 from_bit) {
    unsigned __int128 product = 0;
    for (u32 i = 0; i < 64; i++)
        if (b >> i & 1)
            product ^= (unsigned __int128)a << i;
    return (u64)(product >> from_bit);
}

const Helper rv_bits_helpers[] = {
    {"lathe_riscv64_clmul", (void *)clmul},
    {NULL, NULL},
};
