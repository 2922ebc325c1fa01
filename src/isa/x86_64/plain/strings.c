/* strings.c: the SSE4.2 string compares as a C function: see block.h, and SDM 1, 14.4 for the words of the control byte. */
#include "base/base.h"
#include "isa/x86_64/block.h"

typedef struct Strings {
    u8 a[16], b[16];
    i32 a_length, b_length; /* in elements */
    u32 control, count;     /* elements of a block: 8 words or 16 bytes */
} Strings;

static i32 element(const Strings *s, const u8 *block, u32 i) {
    bool is_signed = s->control & 2;
    if (s->control & 1) {
        u16 v = (u16)(block[2 * i] | block[2 * i + 1] << 8);
        return is_signed ? (i16)v : v;
    }
    return is_signed ? (i8)block[i] : block[i];
}

static i32 length_of(const Strings *s, const u8 *block) {
    i32 n = 0;
    while (n < (i32)s->count && element(s, block, (u32)n))
        n++;
    return n;
}

static i32 length_given(const Strings *s, u64 given) {
    i64 n = (i64)given;
    n = n < 0 ? -n : n;
    return n > (i64)s->count ? (i32)s->count : (i32)n;
}

/* Is b[at] one of the elements of a? Or in one of the ranges that pairs of a are? */
static bool is_any(const Strings *s, u32 at) {
    for (u32 i = 0; (i32)i < s->a_length; i++)
        if (element(s, s->a, i) == element(s, s->b, at))
            return true;
    return false;
}

static bool is_in_range(const Strings *s, u32 at) {
    i32 v = element(s, s->b, at);
    for (u32 i = 0; (i32)i + 1 < s->a_length; i += 2)
        if (element(s, s->a, i) <= v && v <= element(s, s->a, i + 1))
            return true;
    return false;
}

/* Where both have ended they are equal. */
static bool is_equal(const Strings *s, u32 at) {
    bool a_in = (i32)at < s->a_length, b_in = (i32)at < s->b_length;
    return a_in && b_in ? element(s, s->a, at) == element(s, s->b, at) : a_in == b_in;
}

/* Does a begin at b[at], as far as the block of b shows? */
static bool begins(const Strings *s, u32 at) {
    for (u32 i = 0; (i32)i < s->a_length && at + i < s->count; i++)
        if ((i32)(at + i) >= s->b_length || element(s, s->a, i) != element(s, s->b, at + i))
            return false;
    return true;
}

static bool agrees(const Strings *s, u32 at) {
    bool is_inside = (i32)at < s->b_length;
    switch (s->control >> 2 & 3) {
    case 0:
        return is_inside && is_any(s, at);
    case 1:
        return is_inside && is_in_range(s, at);
    case 2:
        return is_equal(s, at);
    default:
        return begins(s, at);
    }
}

/* Bit 4: negated; with bit 5, only inside of b. */
static u32 result_bits(const Strings *s) {
    u32 bits = 0;
    for (u32 i = 0; i < s->count; i++) {
        bool negates = s->control & 16 && (!(s->control & 32) || (i32)i < s->b_length);
        bits |= (u32)(agrees(s, i) != negates) << i;
    }
    return bits;
}

static u32 index_of(const Strings *s, u32 bits) {
    if (!bits)
        return s->count;
    return (u32)(s->control & 64 ? 31 - __builtin_clz(bits) : __builtin_ctz(bits));
}

u64 lathe_x86_strings(u64 a_low, u64 a_high, u64 b_low, u64 b_high, u64 a_length, u64 b_length, u32 control) {
    Strings s = {.control = control, .count = control & 1 ? 8 : 16};
    u64 blocks[4] = {a_low, a_high, b_low, b_high};
    memcpy(s.a, blocks, 16);
    memcpy(s.b, blocks + 2, 16);
    s.a_length = control & STRINGS_IMPLICIT ? length_of(&s, s.a) : length_given(&s, a_length);
    s.b_length = control & STRINGS_IMPLICIT ? length_of(&s, s.b) : length_given(&s, b_length);
    u32 bits = result_bits(&s), carry = bits != 0, zero = s.b_length < (i32)s.count, sign = s.a_length < (i32)s.count;
    return index_of(&s, bits) | carry << 8 | zero << 9 | sign << 10 | (bits & 1) << 11 | (u64)bits << 16;
}
