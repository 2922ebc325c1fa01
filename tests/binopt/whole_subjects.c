/* whole_subjects.c: see whole.h. */
#include "whole.h"

Longs return_longs(long x, long k) {
    long sum = 0;
    for (long i = 0; i < k; i++)
        sum += x ^ i;
    return (Longs){sum, sum * 3 + x};
}

Longs return_passed(long x, long k, long y) {
    return (Longs){x * k, y};
}

__attribute__((noinline)) static Longs called(long x, long k) {
    __asm__ volatile("" ::: "memory");
    return (Longs){x + k, x - k};
}

Longs return_called(long x, long k) {
    Longs s = called(x, k * 3);
    return s;
}

Longs return_quotients(long x, long k) {
    return (Longs){x / k, x % k};
}

__int128 return_wide(long x, long k) {
    return (__int128)x * x * k;
}

LongDouble return_long_double(long x, long k) {
    return (LongDouble){x * k, (double)x / (double)k};
}

DoubleLong return_double_long(long x, long k) {
    return (DoubleLong){(double)x / (double)k, x * k};
}

Doubles return_doubles(long x, long k) {
    return (Doubles){(double)(x + k), (double)x / (double)k};
}

Floats return_floats(long x, long k) {
    return (Floats){(float)(x + k), (float)x / (float)k};
}

Small return_small(long x, long k) {
    return (Small){(int)(x + k), (char)x, {(short)k, (short)(x * k), (short)(x - k)}};
}

Bits return_bits(long x, long k) {
    return (Bits){(unsigned)x & 7, (unsigned)k & 4095, (float)x, (double)(x * k)};
}

Large return_large(long x, long k) {
    return (Large){x, k, x * k};
}

double _Complex return_complex(long x, long k) {
    return (double)x * k + (double)(x - k) * I;
}

float _Complex return_complex_float(long x, long k) {
    return (float)(x * k) + (float)(x - k) * I;
}

long double return_x87(long x, long k) {
    return (long double)x / (long double)k;
}

long return_long(long x, long k) {
    return x * k + (x >> 3);
}

long sum(const long *at, long k) {
    long all = 0;
    for (long i = 0; i < k; i++)
        all += at[i];
    return all;
}

long take_longs(Longs s, long k) {
    return s.a * k - s.b;
}

long take_mixed(LongDouble s, long k) {
    return s.a * k - (long)s.b;
}

long take_many(long k, long b, long c, long d, long e, long f, long g, long h) {
    return k * b + c * d - e * f + g * k - h;
}
