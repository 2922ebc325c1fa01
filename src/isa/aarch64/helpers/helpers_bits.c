/* helpers_bits.c: checksums, for hosts that may lack them. */
#include "isa/aarch64/helpers.h"

/* Byte by byte, by a polynomial whose bits are reversed. */
static u32 checksum(u32 crc, u64 value, u32 bytes, u32 polynomial) {
    for (u32 i = 0; i < bytes; i++) {
        crc ^= value >> 8 * i & 0xff;
        for (u32 bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? polynomial : 0);
    }
    return crc;
}

u32 lathe_aarch64_crc32(u32 crc, u64 value, u32 bytes) {
    return checksum(crc, value, bytes, 0xedb88320);
}

u32 lathe_aarch64_crc32c(u32 crc, u64 value, u32 bytes) {
    return checksum(crc, value, bytes, 0x82f63b78);
}

const Helper a64_bits_helpers[] = {
    {"lathe_aarch64_crc32", (void *)lathe_aarch64_crc32},
    {"lathe_aarch64_crc32c", (void *)lathe_aarch64_crc32c},
    {NULL, NULL},
};
