/* block.c: AES, SHA, carry-less products and Galois fields on blocks of 128 bits: see block.h. */
#include "isa/x86_64/block.h"
#include "base/base.h"

typedef union Block {
    u8 b[16];
    u32 w[4];
    u64 q[2];
} Block;

/* ------------------------------------------------------------------------------------------------------ fields of 256 numbers */

/* In the field of x^8 + x^4 + x^3 + x + 1, which AES and GFNI share. */
static u8 multiply(u8 a, u8 b) {
    u8 r = 0;
    for (; b; b >>= 1, a = (u8)(a << 1 ^ (a >> 7 ? 0x1b : 0)))
        r ^= b & 1 ? a : 0;
    return r;
}

/* a^254, which is 0 for 0. */
static u8 inverse(u8 a) {
    u8 r = 1;
    for (u32 e = 254; e; e >>= 1, a = multiply(a, a))
        r = e & 1 ? multiply(r, a) : r;
    return r;
}

static u8 parity(u8 v) {
    return (u8)__builtin_parity(v);
}

static u8 rotate8(u8 v, u32 n) {
    return (u8)(v << n | v >> (8 - n));
}

/* FIPS 197, 5.1.1 and 5.3.2. */
static u8 substitute(u8 v) {
    u8 i = inverse(v);
    return (u8)(i ^ rotate8(i, 1) ^ rotate8(i, 2) ^ rotate8(i, 3) ^ rotate8(i, 4) ^ 0x63);
}

static u8 substitute_back(u8 v) {
    return inverse((u8)(rotate8(v, 1) ^ rotate8(v, 3) ^ rotate8(v, 6) ^ 5));
}

/* -------------------------------------------------------------------------------------------------------------------- AES */

/* Rows of the state move by their number; columns are words. */
static Block shift_rows(Block s, u32 step) {
    Block r;
    for (u32 i = 0; i < 16; i++)
        r.b[i] = s.b[(i + i % 4 * step) % 16];
    return r;
}

static Block substitute_all(Block s, u8 (*substitution)(u8)) {
    for (u32 i = 0; i < 16; i++)
        s.b[i] = substitution(s.b[i]);
    return s;
}

static Block mix_columns(Block s, const u8 by[4]) {
    Block r = {{0}};
    for (u32 i = 0; i < 16; i++)
        for (u32 k = 0; k < 4; k++)
            r.b[i] ^= multiply(s.b[i / 4 * 4 + (i + k) % 4], by[k]);
    return r;
}

static const u8 mixing[] = {2, 3, 1, 1}, mixing_back[] = {14, 11, 13, 9};

static Block add(Block a, Block b) {
    a.q[0] ^= b.q[0];
    a.q[1] ^= b.q[1];
    return a;
}

static Block encrypt(Block s, Block key, bool last) {
    s = substitute_all(shift_rows(s, 4), substitute);
    return add(last ? s : mix_columns(s, mixing), key);
}

static Block decrypt(Block s, Block key, bool last) {
    s = substitute_all(shift_rows(s, 12), substitute_back);
    return add(last ? s : mix_columns(s, mixing_back), key);
}

static u32 substitute_word(u32 v) {
    u32 r = 0;
    for (u32 i = 0; i < 4; i++)
        r |= (u32)substitute((u8)(v >> 8 * i)) << 8 * i;
    return r;
}

static u32 rotate(u32 v, u32 n) {
    return v << n | v >> (32 - n);
}

/* SDM 2A, AESKEYGENASSIST. */
static Block assist_key(Block s, u32 constant) {
    u32 x1 = substitute_word(s.w[1]), x3 = substitute_word(s.w[3]);
    return (Block){.w = {x1, rotate(x1, 24) ^ constant, x3, rotate(x3, 24) ^ constant}};
}

/* ------------------------------------------------------------------------------------------- carry-less products, GFNI */

static Block multiply_carryless(u64 a, u64 b) {
    unsigned __int128 r = 0;
    for (u32 i = 0; i < 64; i++)
        r ^= b >> i & 1 ? (unsigned __int128)a << i : 0;
    return (Block){.q = {(u64)r, (u64)(r >> 64)}};
}

static Block multiply_bytes(Block a, Block b) {
    for (u32 i = 0; i < 16; i++)
        a.b[i] = multiply(a.b[i], b.b[i]);
    return a;
}

/* SDM 2A, GF2P8AFFINEQB: bit i of a result is the parity of the byte and row 7 - i of the matrix. */
static Block affine(Block v, Block matrix, u32 imm, bool inverted) {
    Block r;
    for (u32 k = 0; k < 16; k++) {
        u8 x = inverted ? inverse(v.b[k]) : v.b[k], y = 0;
        for (u32 i = 0; i < 8; i++)
            y |= (u8)(parity((u8)(matrix.q[k / 8] >> 8 * (7 - i)) & x) << i);
        r.b[k] = (u8)(y ^ imm);
    }
    return r;
}

/* ------------------------------------------------------------------------------------------------------------------- SHA-1 */

/* SDM 2B. Words of a message are from the highest lane down. */
static Block sha1_message1(Block a, Block b) {
    return (Block){.w = {a.w[0] ^ b.w[2], a.w[1] ^ b.w[3], a.w[2] ^ a.w[0], a.w[3] ^ a.w[1]}};
}

static Block sha1_message2(Block a, Block b) {
    u32 w16 = rotate(a.w[3] ^ b.w[2], 1), w17 = rotate(a.w[2] ^ b.w[1], 1), w18 = rotate(a.w[1] ^ b.w[0], 1);
    return (Block){.w = {rotate(a.w[0] ^ w16, 1), w18, w17, w16}};
}

static Block sha1_next_e(Block a, Block b) {
    b.w[3] += rotate(a.w[3], 30);
    return b;
}

static u32 sha1_mix(u32 kind, u32 b, u32 c, u32 d) {
    return kind == 0 ? (b & c) ^ (~b & d) : kind == 2 ? (b & c) ^ (b & d) ^ (c & d) : b ^ c ^ d;
}

static Block sha1_rounds(Block state, Block words, u32 kind) {
    static const u32 constants[] = {0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6};
    u32 a = state.w[3], b = state.w[2], c = state.w[1], d = state.w[0], e = 0;
    for (u32 i = 0; i < 4; i++) {
        u32 next = sha1_mix(kind, b, c, d) + rotate(a, 5) + words.w[3 - i] + e + constants[kind];
        e = d;
        d = c;
        c = rotate(b, 30);
        b = a;
        a = next;
    }
    return (Block){.w = {d, c, b, a}};
}

/* ----------------------------------------------------------------------------------------------------------------- SHA-256 */

static u32 rotate_right(u32 v, u32 n) {
    return v >> n | v << (32 - n);
}

static u32 sigma0(u32 v) {
    return rotate_right(v, 7) ^ rotate_right(v, 18) ^ v >> 3;
}

static u32 sigma1(u32 v) {
    return rotate_right(v, 17) ^ rotate_right(v, 19) ^ v >> 10;
}

static Block sha256_message1(Block a, Block b) {
    return (Block){
        .w = {a.w[0] + sigma0(a.w[1]), a.w[1] + sigma0(a.w[2]), a.w[2] + sigma0(a.w[3]), a.w[3] + sigma0(b.w[0])}};
}

static Block sha256_message2(Block a, Block b) {
    u32 w16 = a.w[0] + sigma1(b.w[2]), w17 = a.w[1] + sigma1(b.w[3]);
    return (Block){.w = {w16, w17, a.w[2] + sigma1(w16), a.w[3] + sigma1(w17)}};
}

/* a: C, D, G, H from the highest lane down; b: A, B, E, F; words: two sums of message and constant. */
static Block sha256_rounds(Block first, Block second, Block words) {
    u32 s[] = {second.w[3], second.w[2], first.w[3], first.w[2], second.w[1], second.w[0], first.w[1], first.w[0]};
    for (u32 i = 0; i < 2; i++) {
        u32 a = s[0], e = s[4];
        u32 t1 = ((e & s[5]) ^ (~e & s[6])) + (rotate_right(e, 6) ^ rotate_right(e, 11) ^ rotate_right(e, 25)) +
                 words.w[i] + s[7];
        u32 t2 = ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2])) +
                 (rotate_right(a, 2) ^ rotate_right(a, 13) ^ rotate_right(a, 22));
        for (u32 k = 7; k; k--)
            s[k] = s[k - 1];
        s[4] += t1;
        s[0] = t1 + t2;
    }
    return (Block){.w = {s[5], s[4], s[1], s[0]}};
}

/* ------------------------------------------------------------------------------------------------------------------ public */

static Block operate(Block a, Block b, Block c, u32 what) {
    u32 imm = what >> 8 & 0xff;
    switch ((BlockOp)(what & 0xff)) {
    case BLOCK_AESENC:
        return encrypt(a, b, false);
    case BLOCK_AESENCLAST:
        return encrypt(a, b, true);
    case BLOCK_AESDEC:
        return decrypt(a, b, false);
    case BLOCK_AESDECLAST:
        return decrypt(a, b, true);
    case BLOCK_AESIMC:
        return mix_columns(a, mixing_back);
    case BLOCK_AESKEYGENASSIST:
        return assist_key(a, imm);
    case BLOCK_PCLMULQDQ:
        return multiply_carryless(a.q[imm & 1], b.q[imm >> 4 & 1]);
    case BLOCK_SHA1MSG1:
        return sha1_message1(a, b);
    case BLOCK_SHA1MSG2:
        return sha1_message2(a, b);
    case BLOCK_SHA1NEXTE:
        return sha1_next_e(a, b);
    case BLOCK_SHA1RNDS4:
        return sha1_rounds(a, b, imm & 3);
    case BLOCK_SHA256MSG1:
        return sha256_message1(a, b);
    case BLOCK_SHA256MSG2:
        return sha256_message2(a, b);
    case BLOCK_SHA256RNDS2:
        return sha256_rounds(a, b, c);
    case BLOCK_GF2P8MULB:
        return multiply_bytes(a, b);
    case BLOCK_GF2P8AFFINEQB:
        return affine(a, b, imm, false);
    case BLOCK_GF2P8AFFINEINVQB:
        return affine(a, b, imm, true);
    }
    return a;
}

u64 lathe_x86_block(u64 a_low, u64 a_high, u64 b_low, u64 b_high, u64 c_low, u64 c_high, u32 what) {
    Block a = {.q = {a_low, a_high}}, b = {.q = {b_low, b_high}}, c = {.q = {c_low, c_high}};
    return operate(a, b, c, what).q[what >> 16 & 1];
}
