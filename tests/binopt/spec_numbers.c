/* spec_numbers.c: specialised functions on numbers: integers, quotients, conversions. */
#include <math.h>

#include "spec.h"

void test_integers(void) {
    BinoptCfgRef cfg = configure(subtract, "iii");
    binopt_cfg_set_parami(cfg, 1, 42);
    __typeof__(&subtract) f = MAKE(cfg, subtract, NEW);
    for (size_t i = 0; i < sizeof(edges) / sizeof(*edges); i++)
        CHECK_THAT(f(edges[i], 42) == (int)((unsigned)edges[i] - 42));
    if (f != subtract && !guarded)
        CHECK_THAT(f(48, 16) == 6);
    if (guarded)
        CHECK_THAT(f(48, 16) == 32);

    for (int by = -9; by <= 11; by += 4) {
        cfg = configure(divide, "iii");
        binopt_cfg_set_parami(cfg, 1, (size_t)by);
        __typeof__(&divide) d = MAKE(cfg, divide, NEW);
        for (size_t i = 0; i < sizeof(edges) / sizeof(*edges) - 1; i++)
            CHECK_THAT(d(edges[i], by) == edges[i] / by);
    }
    cfg = configure(modulo, "LLL");
    binopt_cfg_set_parami(cfg, 1, 10);
    __typeof__(&modulo) m = MAKE(cfg, modulo, NEW);
    CHECK_THAT(m(~0ul, 10) == ~0ul % 10 && m(7, 10) == 7);

    cfg = configure(small, "bbBhH");
    binopt_cfg_set_parami(cfg, 0, (size_t)-100);
    binopt_cfg_set_parami(cfg, 3, 65000);
    __typeof__(&small) s = MAKE(cfg, small, NEW);
    CHECK_THAT(s(-100, 250, -300, 65000) == small(-100, 250, -300, 65000));
    CHECK_THAT(s(-100, 3, 32767, 65000) == small(-100, 3, 32767, 65000));

    cfg = configure(wrapping, "lIII");
    binopt_cfg_set_parami(cfg, 1, 0x7fffffff);
    binopt_cfg_set_parami(cfg, 2, 0x80000001);
    __typeof__(&wrapping) w = MAKE(cfg, wrapping, NEW);
    for (size_t i = 0; i < sizeof(edges) / sizeof(*edges); i++)
        CHECK_THAT(w((unsigned)edges[i], 0x7fffffff, 0x80000001) ==
                   wrapping((unsigned)edges[i], 0x7fffffff, 0x80000001));

    cfg = configure(nothing_known, "lll");
    __typeof__(&nothing_known) n = MAKE(cfg, nothing_known, NEW);
    CHECK_THAT(n(12345, -678) == nothing_known(12345, -678));
}

/* Around multiples of the divisor, from one end of the numbers to the other. */
void test_quotients(void) {
    static const unsigned divisors[] = {1,          2,   3,   5,       6,      7,          10,         11,
                                        13,         100, 641, 1000003, 65536,  0x40000000, 0x7fffffff, 0x80000000,
                                        0x80000001, -2u, -3u, -7u,     -1000u, -65536u,    -65537u,    -12345678u};
    for (size_t i = guarded; i < sizeof(divisors) / sizeof(*divisors); i += 1 + (size_t)guarded * 7) {
        unsigned d = divisors[i];
        BinoptCfgRef cfg[] = {configure(divide, "iii"), configure(quotient, "III"), configure(both_parts, "iii")};
        for (int k = 0; k < 3; k++)
            binopt_cfg_set_parami(cfg[k], 1, d);
        __typeof__(&divide) f = MAKE(cfg[0], divide, NEW), h = MAKE(cfg[2], both_parts, NEW);
        __typeof__(&quotient) g = MAKE(cfg[1], quotient, NEW);
        bool right = true;
        for (unsigned n = 0; n < 4000; n++)
            for (int k = -1; k <= 1; k++) {
                unsigned a = (n * 1073807u / d) * d + (unsigned)k;
                right &= g(a, d) == a / d;
                right &= f((int)a, (int)d) == (int)a / (int)d && h((int)a, (int)d) == both_parts((int)a, (int)d);
            }
        for (size_t k = 0; k < sizeof(edges) / sizeof(*edges); k++)
            right &= f(edges[k], (int)d) == edges[k] / (int)d && g((unsigned)edges[k], d) == (unsigned)edges[k] / d;
        CHECK_THAT(right);
    }
}

/* What fits and what does not, at and around both ends. */
static void fill_numbers(double *numbers) {
    static const double some[] = {0,          -0.9,         0.9,      1.5,           -1.5,        0x1p31,
                                  0x1p31 - 1, 0x1p31 - 200, -0x1p31,  -0x1p31 - 0.5, -0x1p31 - 1, -0x1p31 - 300,
                                  0x1p63,     -0x1p63,      0x1p62,   INFINITY,      -INFINITY,   NAN,
                                  1e300,      -1e300,       12345.678};
    for (int i = 0; i < NUMBERS; i++)
        numbers[i] = some[(size_t)i % (sizeof(some) / sizeof(*some))];
}

void test_conversions(void) {
    double numbers[NUMBERS];
    float singles[NUMBERS];
    int want[NUMBERS], got[NUMBERS];
    long want_wide[NUMBERS], got_wide[NUMBERS];
    fill_numbers(numbers);
    for (int i = 0; i < NUMBERS; i++)
        singles[i] = (float)numbers[i];
    void (*const of_floats[])(const float *, int *, size_t) = {truncate_floats, truncate_packed};
    for (int i = 0; i < 2; i++)
        for (size_t n = 4; n <= NUMBERS; n += 12) {
            BinoptCfgRef cfg = configure((void *)of_floats[i], "vprL");
            binopt_cfg_set_parami(cfg, 2, n);
            __typeof__(&truncate_floats) made = (__typeof__(&truncate_floats))MAKE_ANY(cfg, (void *)of_floats[i], NEW);
            of_floats[i](singles, want, n);
            made(singles, got, n);
            CHECK_THAT(!memcmp(want, got, n * sizeof(*want)));
        }
    for (size_t n = 4; n <= NUMBERS; n += 12) {
        BinoptCfgRef cfg = configure(truncate_doubles, "vprrL");
        binopt_cfg_set_parami(cfg, 3, n);
        __typeof__(&truncate_doubles) made = MAKE(cfg, truncate_doubles, NEW);
        truncate_doubles(numbers, want, want_wide, n);
        made(numbers, got, got_wide, n);
        CHECK_THAT(!memcmp(want, got, n * sizeof(*want)) && !memcmp(want_wide, got_wide, n * sizeof(*want_wide)));
    }
}
