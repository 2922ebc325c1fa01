/* divide.c: see divide.h. If m * d = 2^k + e, the quotient n / d equals n * m / 2^k, rounded down, provided that n * e
 * is less than 2^k for every n. For signed division n has 31 bits, and e must not be 0; for a negative n, 1 is added to
 * the rounded result. */
#include "binopt/x86_64/machine/divide.h"

#include "binopt/x86_64/machine/encode.h"

typedef struct Reciprocal {
    u32 m, k;
} Reciprocal;

static u32 magnitude(u64 divisor, bool has_sign) {
    return has_sign && (i32)divisor < 0 ? 0 - (u32)divisor : (u32)divisor;
}

static bool find(u64 divisor, bool has_sign, Reciprocal *r) {
    u32 d = magnitude(divisor, has_sign), bits = has_sign ? 31 : 32;
    if (d < 2 || (has_sign && d >> 31))
        return false;
    for (r->k = 32; r->k < 63; r->k++) {
        u64 power = (u64)1 << r->k, m = power / d + (has_sign || power % d), e = m * d - power;
        r->m = (u32)m;
        if (m == r->m && e < (u64)1 << (r->k - bits))
            return true;
    }
    return false;
}

bool divide_works(u64 divisor, bool has_sign) {
    Reciprocal r;
    return find(divisor, has_sign, &r);
}

static u32 put(const u8 *code, u32 size, u8 *to) {
    memcpy(to, code, size);
    return size;
}
#define PUT(...) put((const u8[]){__VA_ARGS__}, sizeof((const u8[]){__VA_ARGS__}), to + n)

u32 divide_put(u64 divisor, bool has_sign, u8 *to) {
    Reciprocal r;
    u32 n = 0;
    CHECK(find(divisor, has_sign, &r), "it was asked before");
    if (has_sign)
        n += encode_extend(RAX, RAX, to);
    else
        n += PUT(0x89, 0xc0); /* mov %eax, %eax */
    n += encode_move_number(RDX, r.m, to + n);
    n += PUT(0x48, 0x0f, 0xaf, 0xd0); /* imul %rax, %rdx */
    if (!has_sign) {
        n += PUT(0x48, 0xc1, 0xea, (u8)r.k); /* shr $k, %rdx */
        return n + PUT(0x89, 0xd0);          /* mov %edx, %eax */
    }
    n += PUT(0x48, 0xc1, 0xe8, 63);      /* shr $63, %rax */
    n += PUT(0x48, 0xc1, 0xfa, (u8)r.k); /* sar $k, %rdx */
    n += PUT(0x01, 0xd0);                /* add %edx, %eax */
    return (i32)divisor < 0 ? n + PUT(0xf7, 0xd8) /* neg %eax */ : n;
}
