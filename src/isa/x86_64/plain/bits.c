/* bits.c: bit manipulation of the base set as C functions. */
#include "base/base.h"

u64 lathe_x86_pdep(u64 v, u64 mask) {
    u64 r = 0;
    for (; mask; mask &= mask - 1, v >>= 1)
        r |= v & 1 ? mask & -mask : 0;
    return r;
}

u64 lathe_x86_pext(u64 v, u64 mask) {
    u64 r = 0;
    for (u32 i = 0; mask; mask &= mask - 1, i++)
        r |= (u64)(v & mask & -mask ? 1 : 0) << i;
    return r;
}

/* SDM 2A, CRC32: the polynomial 0x11EDC6F41, with all bits reflected. */
u64 lathe_x86_crc32(u64 crc, u64 v, u32 bits) {
    u32 r = (u32)crc;
    for (u32 i = 0; i < bits; i++) {
        u32 bit = (r ^ (u32)(v >> i)) & 1;
        r = r >> 1 ^ (bit ? 0x82f63b78 : 0);
    }
    return r;
}
