/* helpers_bits.c: multiplication without carries and permutations, for hosts that may lack them. */
#include "isa/riscv64/helpers.h"

/* 64 bits of the 127-bit product, from the given bit on. */
u64 lathe_riscv64_clmul(u64 a, u64 b, u64 from_bit) {
    unsigned __int128 product = 0;
    for (u32 i = 0; i < 64; i++)
        if (b >> i & 1)
            product ^= (unsigned __int128)a << i;
    return (u64)(product >> from_bit);
}

/* An index behind the last element gives zero. */
u64 lathe_riscv64_xperm(u64 elements, u64 indices, u64 bits) {
    u64 mask = ((u64)1 << bits) - 1, result = 0;
    for (u64 at = 0; at < 64; at += bits) {
        u64 from = (indices >> at & mask) * bits;
        result |= from < 64 ? (elements >> from & mask) << at : 0;
    }
    return result;
}

const Helper rv_bits_helpers[] = {
    {"lathe_riscv64_xperm", (void *)lathe_riscv64_xperm},
    {"lathe_riscv64_clmul", (void *)lathe_riscv64_clmul},
    {NULL, NULL},
};
