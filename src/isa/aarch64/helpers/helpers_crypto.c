/* helpers_crypto.c: crypto, by the host's instructions where it has some: AES, SHA1, SHA256, SM3, SM4, carry-less products.
 *
 * Blocks of 128 bits come and go as integers. Names of functions are the manual's, where it has some.
 */
#include "isa/aarch64/helpers.h"
#include "isa/aarch64/helpers_host.h"

typedef unsigned __int128 u128;

typedef A64Block Block;

static u32 rol(u32 v, u32 n) {
    return v << n | v >> (32 - n);
}

static u32 ror(u32 v, u32 n) {
    return rol(v, 32 - n);
}

// clang-format off
/* FIPS 197, 5.1.1, and its inverse. */
static const u8 aes_box[256] = {
     99, 124, 119, 123, 242, 107, 111, 197,  48,   1, 103,  43, 254, 215, 171, 118,
    202, 130, 201, 125, 250,  89,  71, 240, 173, 212, 162, 175, 156, 164, 114, 192,
    183, 253, 147,  38,  54,  63, 247, 204,  52, 165, 229, 241, 113, 216,  49,  21,
      4, 199,  35, 195,  24, 150,   5, 154,   7,  18, 128, 226, 235,  39, 178, 117,
      9, 131,  44,  26,  27, 110,  90, 160,  82,  59, 214, 179,  41, 227,  47, 132,
     83, 209,   0, 237,  32, 252, 177,  91, 106, 203, 190,  57,  74,  76,  88, 207,
    208, 239, 170, 251,  67,  77,  51, 133,  69, 249,   2, 127,  80,  60, 159, 168,
     81, 163,  64, 143, 146, 157,  56, 245, 188, 182, 218,  33,  16, 255, 243, 210,
    205,  12,  19, 236,  95, 151,  68,  23, 196, 167, 126,  61, 100,  93,  25, 115,
     96, 129,  79, 220,  34,  42, 144, 136,  70, 238, 184,  20, 222,  94,  11, 219,
    224,  50,  58,  10,  73,   6,  36,  92, 194, 211, 172,  98, 145, 149, 228, 121,
    231, 200,  55, 109, 141, 213,  78, 169, 108,  86, 244, 234, 101, 122, 174,   8,
    186, 120,  37,  46,  28, 166, 180, 198, 232, 221, 116,  31,  75, 189, 139, 138,
    112,  62, 181, 102,  72,   3, 246,  14,  97,  53,  87, 185, 134, 193,  29, 158,
    225, 248, 152,  17, 105, 217, 142, 148, 155,  30, 135, 233, 206,  85,  40, 223,
    140, 161, 137,  13, 191, 230,  66, 104,  65, 153,  45,  15, 176,  84, 187,  22,
};
static const u8 aes_inverse_box[256] = {
     82,   9, 106, 213,  48,  54, 165,  56, 191,  64, 163, 158, 129, 243, 215, 251,
    124, 227,  57, 130, 155,  47, 255, 135,  52, 142,  67,  68, 196, 222, 233, 203,
     84, 123, 148,  50, 166, 194,  35,  61, 238,  76, 149,  11,  66, 250, 195,  78,
      8,  46, 161, 102,  40, 217,  36, 178, 118,  91, 162,  73, 109, 139, 209,  37,
    114, 248, 246, 100, 134, 104, 152,  22, 212, 164,  92, 204,  93, 101, 182, 146,
    108, 112,  72,  80, 253, 237, 185, 218,  94,  21,  70,  87, 167, 141, 157, 132,
    144, 216, 171,   0, 140, 188, 211,  10, 247, 228,  88,   5, 184, 179,  69,   6,
    208,  44,  30, 143, 202,  63,  15,   2, 193, 175, 189,   3,   1,  19, 138, 107,
     58, 145,  17,  65,  79, 103, 220, 234, 151, 242, 207, 206, 240, 180, 230, 115,
    150, 172, 116,  34, 231, 173,  53, 133, 226, 249,  55, 232,  28, 117, 223, 110,
     71, 241,  26, 113,  29,  41, 197, 137, 111, 183,  98,  14, 170,  24, 190,  27,
    252,  86,  62,  75, 198, 210, 121,  32, 154, 219, 192, 254, 120, 205,  90, 244,
     31, 221, 168,  51, 136,   7, 199,  49, 177,  18,  16,  89,  39, 128, 236,  95,
     96,  81, 127, 169,  25, 181,  74,  13,  45, 229, 122, 159, 147, 201, 156, 239,
    160, 224,  59,  77, 174,  42, 245, 176, 200, 235, 187,  60, 131,  83, 153,  97,
     23,  43,   4, 126, 186, 119, 214,  38, 225, 105,  20,  99,  85,  33,  12, 125,
};
/* GB/T 32907, 6.2. */
static const u8 sm4_box[256] = {
    214, 144, 233, 254, 204, 225,  61, 183,  22, 182,  20, 194,  40, 251,  44,   5,
     43, 103, 154, 118,  42, 190,   4, 195, 170,  68,  19,  38,  73, 134,   6, 153,
    156,  66,  80, 244, 145, 239, 152, 122,  51,  84,  11,  67, 237, 207, 172,  98,
    228, 179,  28, 169, 201,   8, 232, 149, 128, 223, 148, 250, 117, 143,  63, 166,
     71,   7, 167, 252, 243, 115,  23, 186, 131,  89,  60,  25, 230, 133,  79, 168,
    104, 107, 129, 178, 113, 100, 218, 139, 248, 235,  15,  75, 112,  86, 157,  53,
     30,  36,  14,  94,  99,  88, 209, 162,  37,  34, 124,  59,   1,  33, 120, 135,
    212,   0,  70,  87, 159, 211,  39,  82,  76,  54,   2, 231, 160, 196, 200, 158,
    234, 191, 138, 210,  64, 199,  56, 181, 163, 247, 242, 206, 249,  97,  21, 161,
    224, 174,  93, 164, 155,  52,  26,  85, 173, 147,  50,  48, 245, 140, 177, 227,
     29, 246, 226,  46, 130, 102, 202,  96, 192,  41,  35, 171,  13,  83,  78, 111,
    213, 219,  55,  69, 222, 253, 142,  47,   3, 255, 106, 114, 109, 108,  91,  81,
    141,  27, 175, 146, 187, 221, 188, 127,  17, 217,  92,  65,  31,  16,  90, 216,
     10, 193,  49, 136, 165, 205, 123, 189,  45, 116, 208,  18, 184, 229, 180, 176,
    137, 105, 151,  74,  12, 150, 119, 126, 101, 185, 241,   9, 197, 110, 198, 132,
     24, 240, 125, 236,  58, 220,  77,  32, 121, 238,  95,  62, 215, 203,  57,  72,
};
// clang-format on

/* ----------------------------------------------------------------------------------------------------------------- AES */

/* Rows of the state move by their number; columns are words. */
static Block shifted_rows(const Block *s, u32 step, const u8 *box) {
    Block r;
    for (u32 i = 0; i < 16; i++)
        r.b[i] = box[s->b[(i + i % 4 * step) % 16]];
    return r;
}

u128 lathe_aarch64_aese(u128 state, u128 key) {
    Block s = {state ^ key};
    return a64_host_aes(A64_AES_ENCRYPT, &s) ? s.all : shifted_rows(&s, 4, aes_box).all;
}

u128 lathe_aarch64_aesd(u128 state, u128 key) {
    Block s = {state ^ key};
    return a64_host_aes(A64_AES_DECRYPT, &s) ? s.all : shifted_rows(&s, 12, aes_inverse_box).all;
}

/* Four products at once: by x, in the field of x^8 + x^4 + x^3 + x + 1. */
static u32 times_x(u32 v) {
    return (v & 0x7f7f7f7f) << 1 ^ (v >> 7 & 0x01010101) * 0x1b;
}

static u32 mixed(u32 v) {
    u32 twice = times_x(v);
    return twice ^ ror(v ^ twice, 8) ^ ror(v, 16) ^ ror(v, 24);
}

u128 lathe_aarch64_aesmc(u128 state) {
    Block s = {state};
    if (a64_host_aes(A64_AES_MIX, &s))
        return s.all;
    for (u32 i = 0; i < 4; i++)
        s.w[i] = mixed(s.w[i]);
    return s.all;
}

/* The inverse of mixing is to mix three times. */
u128 lathe_aarch64_aesimc(u128 state) {
    Block s = {state};
    if (a64_host_aes(A64_AES_UNMIX, &s))
        return s.all;
    for (u32 i = 0; i < 4; i++)
        s.w[i] = mixed(mixed(mixed(s.w[i])));
    return s.all;
}

/* ----------------------------------------------------------------------------------------------------------------- SHA */

static u32 choose(u32 x, u32 y, u32 z) {
    return ((y ^ z) & x) ^ z;
}

static u32 majority(u32 x, u32 y, u32 z) {
    return (x & y) | ((x | y) & z);
}

static u32 parity(u32 x, u32 y, u32 z) {
    return x ^ y ^ z;
}

/* Four rounds: a to d are in x, e is y. */
static u128 sha1_rounds(u128 hash, u32 y, u128 schedule, u32 (*f)(u32, u32, u32)) {
    Block x = {hash}, w = {schedule};
    for (u32 i = 0; i < 4; i++) {
        u32 a = y + rol(x.w[0], 5) + f(x.w[1], x.w[2], x.w[3]) + w.w[i];
        y = x.w[3];
        x.w[3] = x.w[2];
        x.w[2] = rol(x.w[1], 30);
        x.w[1] = x.w[0];
        x.w[0] = a;
    }
    return x.all;
}

u128 lathe_aarch64_sha1c(u128 hash, u32 e, u128 schedule) {
    return sha1_rounds(hash, e, schedule, choose);
}

u128 lathe_aarch64_sha1p(u128 hash, u32 e, u128 schedule) {
    return sha1_rounds(hash, e, schedule, parity);
}

u128 lathe_aarch64_sha1m(u128 hash, u32 e, u128 schedule) {
    return sha1_rounds(hash, e, schedule, majority);
}

/* The manual, SHA256hash: four rounds; a to d are in x, e to h in y. */
static void sha256_rounds(Block *x, Block *y, u128 schedule) {
    Block w = {schedule};
    if (a64_host_sha256(x, y, &w))
        return;
    for (u32 i = 0; i < 4; i++) {
        u32 e = y->w[0], a = x->w[0];
        u32 t = y->w[3] + (ror(e, 6) ^ ror(e, 11) ^ ror(e, 25)) + choose(e, y->w[1], y->w[2]) + w.w[i];
        u32 next_a = t + (ror(a, 2) ^ ror(a, 13) ^ ror(a, 22)) + majority(a, x->w[1], x->w[2]);
        u32 next_e = t + x->w[3];
        x->all = x->all << 32 | next_a;
        y->all = y->all << 32 | next_e;
    }
}

u128 lathe_aarch64_sha256h(u128 abcd, u128 efgh, u128 schedule) {
    Block x = {abcd}, y = {efgh};
    sha256_rounds(&x, &y, schedule);
    return x.all;
}

u128 lathe_aarch64_sha256h2(u128 efgh, u128 abcd, u128 schedule) {
    Block x = {abcd}, y = {efgh};
    sha256_rounds(&x, &y, schedule);
    return y.all;
}

u128 lathe_aarch64_sha256su1(u128 d, u128 n, u128 m) {
    Block r = {d}, first = {n >> 32 | m << 96}, last = {m}, before = {n};
    if (a64_host_sha256_schedule(&r, &before, &last))
        return r.all;
    for (u32 i = 0; i < 4; i++) {
        u32 v = i < 2 ? last.w[i + 2] : r.w[i - 2];
        r.w[i] += (ror(v, 17) ^ ror(v, 19) ^ v >> 10) + first.w[i];
    }
    return r.all;
}

/* ----------------------------------------------------------------------------------------------------------------- SM3 */

u128 lathe_aarch64_sm3partw1(u128 d, u128 n, u128 m) {
    Block r = {d ^ n}, w = {m};
    for (u32 i = 0; i < 4; i++) {
        r.w[i] ^= rol(i < 3 ? w.w[i + 1] : r.w[0], 15);
        r.w[i] ^= rol(r.w[i], 15) ^ rol(r.w[i], 23);
    }
    return r.all;
}

u128 lathe_aarch64_sm3partw2(u128 d, u128 n, u128 m) {
    Block r = {d}, w = {m}, t = {n};
    for (u32 i = 0; i < 4; i++)
        t.w[i] ^= rol(w.w[i], 7);
    r.all ^= t.all;
    u32 last = rol(t.w[0], 15);
    r.w[3] ^= last ^ rol(last, 15) ^ rol(last, 23);
    return r.all;
}

/* A round: `which` is 0 to 3 for sm3tt1a, sm3tt1b, sm3tt2a and sm3tt2b; w is the word of the schedule. */
u128 lathe_aarch64_sm3tt(u128 hash, u128 n, u32 w, u32 which) {
    Block d = {hash}, other = {n}, r = {0};
    u32 x = d.w[3], y = d.w[2], z = d.w[1];
    u32 f = which == 1 ? majority(x, y, z) : which == 3 ? choose(x, y, z) : parity(x, y, z);
    u32 more = which < 2 ? other.w[3] ^ rol(x, 12) : other.w[3], t = f + d.w[0] + more + w;
    r.w[0] = z;
    r.w[1] = rol(y, which < 2 ? 9 : 19);
    r.w[2] = x;
    r.w[3] = which < 2 ? t : t ^ rol(t, 9) ^ rol(t, 17);
    return r.all;
}

/* ----------------------------------------------------------------------------------------------------------------- SM4 */

static u32 substituted(u32 v) {
    u32 r = 0;
    for (u32 i = 0; i < 32; i += 8)
        r |= (u32)sm4_box[v >> i & 0xff] << i;
    return r;
}

u128 lathe_aarch64_sm4e(u128 state, u128 keys) {
    Block s = {state}, k = {keys};
    for (u32 i = 0; i < 4; i++) {
        u32 v = substituted(s.w[3] ^ s.w[2] ^ s.w[1] ^ k.w[i]);
        v ^= rol(v, 2) ^ rol(v, 10) ^ rol(v, 18) ^ rol(v, 24) ^ s.w[0];
        s.all = s.all >> 32 | (u128)v << 96;
    }
    return s.all;
}

u128 lathe_aarch64_sm4ekey(u128 keys, u128 constants) {
    Block s = {keys}, k = {constants};
    for (u32 i = 0; i < 4; i++) {
        u32 v = substituted(s.w[3] ^ s.w[2] ^ s.w[1] ^ k.w[i]);
        v ^= rol(v, 13) ^ rol(v, 23) ^ s.w[0];
        s.all = s.all >> 32 | (u128)v << 96;
    }
    return s.all;
}

/* ------------------------------------------------------------------------------------------------- carry-less products */

/* Four bits of b at a time, by the multiples of a. */
u128 lathe_aarch64_pmull(u64 a, u64 b) {
    u128 multiples[16] = {0, a}, r = 0;
    Block product;
    if (a64_host_product(a, b, &product))
        return product.all;
    for (u32 i = 2; i < 16; i++)
        multiples[i] = multiples[i / 2] << 1 ^ (i & 1 ? a : 0);
    for (i32 i = 60; i >= 0; i -= 4)
        r = r << 4 ^ multiples[b >> i & 15];
    return r;
}

/* ------------------------------------------------------------------------------------------------------------ in place */

/* The same where the operands lie: the first one is written. The result of these functions is of no use to anybody. */
#define IN_PLACE(name, ...)                                                                                            \
    u64 lathe_aarch64_##name##_in_place(Block *d, const Block *n, const Block *m) {                                    \
        (void)n, (void)m;                                                                                              \
        d->all = lathe_aarch64_##name(__VA_ARGS__);                                                                    \
        return 0;                                                                                                      \
    }
IN_PLACE(aese, d->all, n->all)
IN_PLACE(aesd, d->all, n->all)
IN_PLACE(aesmc, n->all)
IN_PLACE(aesimc, n->all)
IN_PLACE(sha1c, d->all, n->w[0], m->all)
IN_PLACE(sha1p, d->all, n->w[0], m->all)
IN_PLACE(sha1m, d->all, n->w[0], m->all)
IN_PLACE(sha256h, d->all, n->all, m->all)
IN_PLACE(sha256h2, d->all, n->all, m->all)
IN_PLACE(sha256su1, d->all, n->all, m->all)
IN_PLACE(sm3partw1, d->all, n->all, m->all)
IN_PLACE(sm3partw2, d->all, n->all, m->all)
IN_PLACE(sm4e, d->all, n->all)
IN_PLACE(sm4ekey, n->all, m->all)

u64 lathe_aarch64_sm3tt_in_place(Block *d, const Block *n, const u32 *w, u32 which) {
    d->all = lathe_aarch64_sm3tt(d->all, n->all, *w, which);
    return 0;
}

u64 lathe_aarch64_pmull_in_place(Block *d, u64 a, u64 b) {
    d->all = lathe_aarch64_pmull(a, b);
    return 0;
}

#define ROW(name)                                                                                                      \
    {"lathe_aarch64_" #name, (void *)lathe_aarch64_##name},                                                            \
        {"lathe_aarch64_" #name "_in_place", (void *)lathe_aarch64_##name##_in_place},
const Helper a64_crypto_helpers[] = {ROW(aese) ROW(aesd) ROW(aesmc) ROW(aesimc) ROW(sha1c) ROW(sha1p) ROW(sha1m)
                                         ROW(sha256h) ROW(sha256h2) ROW(sha256su1) ROW(sm3partw1) ROW(sm3partw2)
                                             ROW(sm3tt) ROW(sm4e) ROW(sm4ekey) ROW(pmull){NULL, NULL}};
