/* extended.c: long double as argument, result and variable argument, of the program and of the library. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
static long double many(int n, ...) {
    va_list l;
    va_start(l, n);
    long double s = 0;
    while (n--)
        s += va_arg(l, long double);
    va_end(l);
    return s;
}
static void show(const char *f, ...) {
    va_list l;
    va_start(l, f);
    vprintf(f, l);
    va_end(l);
}
int main(void) {
    volatile long double x = 1.5L, y = -0.25L, big = 1e300L;
    int e;
    long double i;
    printf("%Lg %d %.10Lf %Le %s\n", x, 7, sqrtl(x * 6), big * big, "end");
    printf("%d %Lg %Lg %Lg %Lg %Lg %d\n", 1, x, y, x + y, x * y, x / y, 9);
    show("%d %Lg %s %g %Lg\n", 1, x, "t", 2.5, y);
    printf("%Lg\n", many(5, x, y, x, x, 4.0L));
    printf("%Lg %Lg %Lg\n", fmodl(7.5L, 2), powl(2, 0.5L) * powl(2, 0.5L), ldexpl(x, 10));
    printf("%Lg %d\n", frexpl(40, &e), e);
    printf("%Lg", modfl(-3.75L, &i));
    printf(" %Lg\n", i);
    printf("%Lg %ld %d\n", strtold("3.75e2xyz", NULL), lrintl(2.5L), isnan(nanl("")) + isinf(HUGE_VALL));
    printf("%Lf %Lg %Lg\n", nextafterl(1, 2) > 1 ? 1.0L : 0.0L, (long double)0x1p-1074, copysignl(0, -1));
    return (int)fmaxl(x, 3) + (int)hypotl(3, 4);
}
