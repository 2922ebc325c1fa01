/* format.c: numbers to text and back, and the mathematical functions. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

int main(void) {
    static const double values[] = {0.0,      -0.0,          1.0,  0.1,    1.0 / 3, 1e15,
                                    1e16,     123456789.125, 1e-5, 5e-324, DBL_MAX, DBL_MIN,
                                    -2.5,     0.5,           1.5,  1e22,   1e23,    9007199254740993.0,
                                    INFINITY, -INFINITY,     NAN};
    for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
        double v = values[i];
        printf("%g|%.17g|%e|%.0f|%a|%10.3g|%-12.4e|%+.2f\n", v, v, v, fabs(v) < 1e20 ? v : 0, v, v, v,
               fabs(v) < 1e20 ? v : 0);
    }
    int bad = 0;
    uint64_t seed = 88172645463325252ull;
    for (int i = 0; i < 3000; i++) {
        seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
        union {
            uint64_t bits;
            double v;
        } u = {.bits = seed};
        char text[64];
        snprintf(text, sizeof(text), "%.17g", u.v);
        bad += !isnan(u.v) && strtod(text, NULL) != u.v;
    }
    printf("%d did not come back\n", bad);
    double sum = 0;
    for (int i = 1; i < 2000; i++) {
        double x = i * 0.01;
        sum += sin(x) * cos(x) + exp(-x) + log(x) - sqrt(x) + pow(x, 1.1) + atan(x) + tanh(x) + cbrt(x) + fmod(x, 0.7) +
               floor(x) + ceil(x) - round(x) + hypot(x, 1) + erf(x) + lgamma(x) * 1e-3 + log2(x) + exp2(-x) +
               nearbyint(x);
    }
    printf("%.9f\n", sum);
    printf("%.6f %.6f %.6f\n", (double)sinf(1.0f), (double)powf(2.0f, 0.5f), (double)expf(1.0f));
    printf("%" PRId64 " %" PRIu64 " %" PRIx64 " %d %u\n", INT64_MIN, UINT64_MAX, UINT64_MAX / 3, INT32_MIN, UINT32_MAX);
    printf("%lld %lld %d %d\n", llround(2.5), llrint(2.5), (int)-2.7, (int)(unsigned char)300.0f);
    printf("%.0f %u %lu\n", (double)UINT64_MAX, (unsigned)3e9, (unsigned long)1.8e19);
    return 0;
}
