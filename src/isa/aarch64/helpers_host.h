/* helpers_host.h: the environment of floating point that the host has for the guest, and its instructions for crypto; each host has these in its own way. */
#ifndef ISA_AARCH64_HELPERS_HOST_H
#define ISA_AARCH64_HELPERS_HOST_H

#include "base/base.h"

u32 a64_host_flags(void);      /* in the order of fpsr */
void a64_host_begin(u32 fpcr); /* its modes, and no flags */

/* A vector register. */
typedef union A64Block {
    unsigned __int128 all;
    u64 q[2];
    u32 w[4];
    u8 b[16];
} A64Block;

typedef enum A64Aes { A64_AES_ENCRYPT, A64_AES_DECRYPT, A64_AES_MIX, A64_AES_UNMIX } A64Aes;

/* These replace their first operand by the result, or return false: the host has no instruction for it. */
bool a64_host_aes(A64Aes what, A64Block *state);
bool a64_host_sha256(A64Block *abcd, A64Block *efgh, const A64Block *schedule); /* four rounds, of both operands */
bool a64_host_sha256_schedule(A64Block *d, const A64Block *n, const A64Block *m);
bool a64_host_product(u64 a, u64 b, A64Block *product);

#endif
