/* floats.c: float, double, long double, their comparison and conversion, as arguments and results. */
#include <math.h>
#include <stdio.h>

static double poly(double x, const double *c, int n) {
    double s = 0;
    for (int i = 0; i < n; i++)
        s = s * x + c[i];
    return s;
}

static float mean(float a, float b, float c, float d, float e, float f, float g, float h, float on_stack) {
    return (a + b + c + d + e + f + g + h + on_stack) / 9;
}

static long double half(long double x) {
    return x / 2 + 1;
}

static long double apply(long double (*f)(long double), long double x) {
    return f(f(x));
}

/* A local that is written before an x87 instruction and read behind it, by the frame pointer at -O0. */
static double between(long double x, int n) {
    double before = floor(7.0831 - n), root = sqrt(fabs((double)x));
    return before + n - root;
}

static int order(double a, double b) {
    return a < b ? -1 : a > b ? 1 : a == b ? 0 : 2;
}

int main(int argc, char **argv) {
    (void)argv;
    double c[] = {1.5, -2.25, 3.125, argc};
    float v[37], sum = 0;
    printf("%.17g %.17g\n", poly(1.25, c, 4), poly(-3, c, 3));
    printf("%.9g\n", mean(1, 2, 3, 4, 5, 6, 7, 8, (float)argc));
    printf("%.20Lg %.20Lg\n", apply(half, 10.5L + argc), sqrtl(2.0L * argc));
    printf("%.9g %.9g\n", between(42.835L, 13 + argc), between(-8.5L, -argc));
    printf("%d %d %d %d\n", order(1, 2), order(2, 1), order(argc, 1), order(0.0 / (argc - 1), 1));
    for (int i = 0; i < 37; i++)
        v[i] = sinf((float)i) * (float)i;
    for (int i = 0; i < 37; i++)
        sum += v[i] * v[36 - i];
    printf("%.9g %.17g %.17g\n", sum, pow(1.1, argc + 9.5), floor(-2.5 * argc));
    printf("%d %ld %u %.9g\n", (int)(sum * 10), (long)-2.9, (unsigned)3.99, (double)(unsigned long)-1);
    printf("%d %d\n", isnan(sqrt(-1.0 * argc)) != 0, isinf(1.0 / (argc - 1)) != 0);
    return 0;
}
