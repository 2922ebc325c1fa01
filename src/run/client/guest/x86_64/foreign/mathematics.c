/* mathematics.c: what x87's transcendental functions (isa/x86_64/plain/x87_functions.c) take from a C library besides libm, whose own functions are linked into the client: taking
 * numbers of 128 bits apart, and scaling. */
#include <math.h>

#include "base/base.h"

enum { BIAS = 16383, EXPONENT_MOST = 0x7fff, FRACTION_BITS = 112, EXPONENT_AT = 48 /* of the upper word */ };
enum { DOUBLE_BIAS = 1023, DOUBLE_LEAST = -1022, DOUBLE_AT = 52 };

typedef union Quad {
    long double value;
    u64 word[2]; /* from the lowest bits on */
} Quad;

static u32 exponent_of(const Quad *q) {
    return q->word[1] >> EXPONENT_AT & EXPONENT_MOST;
}

static void set_exponent(Quad *q, u32 exponent) {
    q->word[1] = (q->word[1] & ~((u64)EXPONENT_MOST << EXPONENT_AT)) | (u64)exponent << EXPONENT_AT;
}

static long double power(int exponent) {
    Quad q = {.word = {0, 0}};
    set_exponent(&q, (u32)(exponent + BIAS));
    return q.value;
}

long double frexpl(long double v, int *exponent) {
    Quad q = {.value = v};
    int scaled = 0;
    *exponent = 0;
    if (v == 0 || exponent_of(&q) == EXPONENT_MOST)
        return v;
    if (!exponent_of(&q)) { /* a subnormal number */
        q.value *= power(FRACTION_BITS + 1);
        scaled = FRACTION_BITS + 1;
    }
    *exponent = (int)exponent_of(&q) - (BIAS - 1) - scaled;
    set_exponent(&q, BIAS - 1);
    return q.value;
}

/* Each step multiplies by a power of two that is a normal number. */
long double ldexpl(long double v, int by) {
    enum { STEP = BIAS - 1, STEPS_MOST = 3 };
    for (u32 i = 0; i < STEPS_MOST && by; i++) {
        int now = by > STEP ? STEP : by < -STEP ? -STEP : by;
        v *= power(now);
        by -= now;
    }
    return v;
}

/* libm calls these by their inner names. */
long double __frexpl(long double v, int *exponent);
long double __frexpl(long double v, int *exponent) {
    return frexpl(v, exponent);
}

long double __ldexpl(long double v, int by);
long double __ldexpl(long double v, int by) {
    return ldexpl(v, by);
}

static double double_power(int exponent) {
    u64 bits = (u64)(exponent + DOUBLE_BIAS) << DOUBLE_AT;
    double v;
    memcpy(&v, &bits, sizeof(v));
    return v;
}

double __scalbn(double v, int by);
double __scalbn(double v, int by) {
    enum { STEPS_MOST = 3 };
    for (u32 i = 0; i < STEPS_MOST && by; i++) {
        int now = by > DOUBLE_BIAS ? DOUBLE_BIAS : by < DOUBLE_LEAST ? DOUBLE_LEAST : by;
        v *= double_power(now);
        by -= now;
    }
    return v;
}
