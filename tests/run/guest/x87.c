/* x87.c: long double arithmetic, its rounding, conversions and library functions. */
#include <fenv.h>
#include <float.h>
#include <math.h>
#include <stdio.h>

static volatile long double one = 1, three = 3, tiny = 1e-4000L, huge_value = 1e4000L;

static long double series(int n) {
    long double sum = 0;
    for (int k = 0; k < n; k++)
        sum += (k % 2 ? -1.0L : 1.0L) / (long double)(2 * k + 1);
    return 4 * sum;
}

int main(void) {
    printf("%.20Lg %.20Lg %Lg\n", one / three, sqrtl(2 * one), series(10000));
    printf("%Lg %Lg %d\n", tiny / huge_value, huge_value * huge_value, isinf(huge_value * huge_value));
    printf("%.18Lg %.18Lg %.18Lg\n", sinl(one), expl(one), logl(three));
    printf("%.18Lg %.18Lg %.18Lg\n", powl(three, 20.5L), atan2l(one, three), fmodl(1e18L, three));
    printf("%lld %lld %d\n", (long long)(1e15L / three), llrintl(2.5L * one), (int)floorl(-2.5L * one));
    for (const int *mode = (int[]){FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO, -1}; *mode >= 0; mode++) {
        fesetround(*mode);
        long double third = one / three;
        printf("%La %ld %ld\n", third, lrintl(2.5L * one), lrintl(-2.5L * one));
    }
    fesetround(FE_TONEAREST);
    int exponent;
    long double fraction = frexpl(huge_value, &exponent);
    printf("%.15Lg %d %.15Lg\n", fraction, exponent, ldexpl(one, -16000));
    printf("%d %d %d\n", isnan(sqrtl(-one)), one < three, isunordered(nanl(""), one));
    double d = (double)(one / three);
    float f = (float)(one / three);
    printf("%.17g %.9g %d\n", d, f, (long double)d == one / three);
    return 0;
}
