/* values.c: see values.h. */
#include "values.h"

u64 value_integer(Rng *r) {
    static const u8 widths[] = {8, 16, 32, 64};
    u32 w = widths[rng_below(r, 4)];
    switch (rng_below(r, 8)) {
    case 0:
        return rng_below(r, 3) - (u64)1;
    case 1:
        return (u64)1 << rng_below(r, 64);
    case 2:
        return ((u64)1 << (w - 1)) - rng_below(r, 2); /* min, max */
    case 3:
        return ~(u64)0 >> (64 - w); /* all ones */
    case 4:
        return rng_below(r, 70);
    case 5:
        return (u64)(i64)(i32)rng_next(r);
    case 6:
        return ~((u64)1 << rng_below(r, 64));
    default:
        return rng_next(r);
    }
}

u64 value_float(Rng *r, u32 exponent, u32 fraction) {
    u64 sign = (rng_next(r) & 1) << (exponent + fraction), ones = ((u64)1 << exponent) - 1, bias = ones >> 1;
    u64 f = rng_next(r) & (((u64)1 << fraction) - 1), quiet = (u64)1 << (fraction - 1);
    switch (rng_below(r, 12)) {
    case 0:
        return sign;
    case 1:
        return sign | ones << fraction;
    case 2:
        return sign | ones << fraction | quiet | f;
    case 3:
        return sign | ones << fraction | (f & ~quiet) | 1;
    case 4:
        return sign | f; /* denormal */
    case 5:
        return sign | (u64)1 << fraction | (f & 3);
    case 6:
        return sign | (ones - 1) << fraction | f;
    case 7:
        return sign | bias << fraction;
    case 8: /* integers, halves */
        return sign | (bias + rng_below(r, 70)) << fraction | (f & ~(u64)0 << rng_below(r, fraction));
    case 9:
        return sign | (bias - 2 + rng_below(r, 4)) << fraction | f;
    default:
        return sign | (rng_next(r) & ones) << fraction | f;
    }
}

void value_vector(Rng *r, u8 *out, size_t size) {
    u32 kind = rng_below(r, 5);
    u64 same = kind == 4 ? value_integer(r) : 0;
    for (size_t i = 0; i < size; i += 8) {
        u64 v;
        switch (kind) {
        case 0:
            v = value_float(r, 8, 23) | value_float(r, 8, 23) << 32;
            break;
        case 1:
            v = value_float(r, 11, 52);
            break;
        case 2:
            v = rng_next(r);
            break;
        case 3:
            v = value_integer(r);
            break;
        default:
            v = same ^ (rng_once_in(r, 4) ? (u64)1 << rng_below(r, 64) : 0);
            break;
        }
        memcpy(out + i, &v, size - i < 8 ? size - i : 8);
    }
}

void value_extended(Rng *r, u8 out[10]) {
    u64 fraction = rng_next(r), integer_bit = (u64)1 << 63;
    u16 sign = (u16)(rng_next(r) & 0x8000), exponent = 0x3fff;
    switch (rng_below(r, 12)) {
    case 0:
        exponent = 0, fraction = 0;
        break;
    case 1:
        exponent = 0x7fff, fraction = integer_bit;
        break;
    case 2:
        exponent = 0x7fff, fraction |= (u64)3 << 62;
        break;
    case 3:
        exponent = 0x7fff, fraction = (fraction & ~((u64)3 << 62)) | integer_bit | 1;
        break;
    case 4:
        exponent = 0, fraction &= ~integer_bit;
        break;
    case 5:
        exponent = (u16)rng_below(r, 0x8000);
        break; /* with the integer bit clear: unnormal */
    case 6:
        fraction = integer_bit;
        break;
    case 7:
        exponent = (u16)(0x3fff + rng_below(r, 70));
        fraction = (fraction | integer_bit) & ~(u64)0 << rng_below(r, 64);
        break;
    case 8:
        exponent = (u16)(0x3ffd + rng_below(r, 3)), fraction |= integer_bit;
        break;
    case 9:
        exponent = (u16)(0x3fff - 1074 + rng_below(r, 60)), fraction |= integer_bit;
        break;
    default:
        exponent = (u16)(0x3f00 + rng_below(r, 0x200)), fraction |= integer_bit;
        break;
    }
    exponent |= sign;
    memcpy(out, &fraction, 8);
    memcpy(out + 8, &exponent, 2);
}

void value_decimal(Rng *r, u8 out[10]) {
    for (int i = 0; i < 9; i++)
        out[i] = (u8)(rng_below(r, 10) << 4 | rng_below(r, 10));
    out[9] = rng_next(r) & 1 ? 0x80 : 0;
}

u32 value_mxcsr(Rng *r) {
    u32 v = 0x1f80 | (rng_next(r) & 0x3f) | rng_below(r, 4) << 13;
    if (rng_once_in(r, 8))
        v |= 0x8000; /* flush to zero */
    if (rng_once_in(r, 8))
        v |= 0x40; /* denormals are zero */
    return v;
}

u16 value_fpu_control(Rng *r) {
    static const u8 precision[] = {0, 2, 3, 3, 3};
    return (u16)(0x7f | precision[rng_below(r, 5)] << 8 | (rng_once_in(r, 2) ? rng_below(r, 4) << 10 : 0));
}
