/* block.h: what the C functions for blocks of 128 bits are asked to do, on hosts that do not have the instructions themselves. */
#ifndef ISA_X86_64_BLOCK_H
#define ISA_X86_64_BLOCK_H

/* u64(u64 a_low, a_high, b_low, b_high, c_low, c_high, u32 what): one half of the result. */
#define BLOCK_HELPER "lathe_x86_block"

/* Bits 0–7 of `what`: the operation. */
typedef enum BlockOp {
    BLOCK_AESENC,
    BLOCK_AESENCLAST,
    BLOCK_AESDEC,
    BLOCK_AESDECLAST,
    BLOCK_AESIMC,
    BLOCK_AESKEYGENASSIST,
    BLOCK_PCLMULQDQ,
    BLOCK_SHA1MSG1,
    BLOCK_SHA1MSG2,
    BLOCK_SHA1NEXTE,
    BLOCK_SHA1RNDS4,
    BLOCK_SHA256MSG1,
    BLOCK_SHA256MSG2,
    BLOCK_SHA256RNDS2,
    BLOCK_GF2P8MULB,
    BLOCK_GF2P8AFFINEQB,
    BLOCK_GF2P8AFFINEINVQB,
} BlockOp;

/* Bits 8–15: the immediate. Bit 16: the upper half is wanted. */
#define BLOCK_WHAT(op, imm, high) ((u32)(op) | (u32)(imm) << 8 | (u32)(high) << 16)

/* u64(u64 a_low, a_high, b_low, b_high, i64 a_length, b_length, u32 control): all that a string compare says: bits 0–7 the index,
 * 8–11 the flags C, Z, S, O, 16–31 the mask. */
#define STRINGS_HELPER "lathe_x86_strings"
enum { STRINGS_IMPLICIT = 256 }; /* added to the control byte: strings end at their first zero */

#endif
