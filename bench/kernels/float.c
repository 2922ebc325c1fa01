/* float.c: floating point, scalar in the source. */
#include "kernels.h"

float KERNEL(sum_float)(const float *a, long n) {
    float sum = 0;
    for (long i = 0; i < n; i++)
        sum += a[i];
    return sum;
}

double KERNEL(dot_double)(const double *a, const double *b, long n) {
    double sum = 0;
    for (long i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

void KERNEL(saxpy)(float *y, const float *x, float a, long n) {
    for (long i = 0; i < n; i++)
        y[i] += a * x[i];
}

void KERNEL(daxpy)(double *y, const double *x, double a, long n) {
    for (long i = 0; i < n; i++)
        y[i] += a * x[i];
}

double KERNEL(polynomial)(const double *c, int n, double x) {
    double v = 0;
    for (int i = n - 1; i >= 0; i--)
        v = v * x + c[i];
    return v;
}

double KERNEL(newton_sqrt)(double v) {
    double x = v > 1 ? v : 1;
    for (int i = 0; i < 30; i++)
        x = (x + v / x) * 0.5;
    return x;
}

int KERNEL(mandelbrot)(double re, double im, int limit) {
    double x = 0, y = 0;
    int i = 0;
    while (i < limit && x * x + y * y <= 4) {
        double t = x * x - y * y + re;
        y = 2 * x * y + im;
        x = t;
        i++;
    }
    return i;
}

void KERNEL(matrix_double)(double *c, const double *a, const double *b, int n) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int k = 0; k < n; k++)
                sum += a[i * n + k] * b[k * n + j];
            c[i * n + j] = sum;
        }
}
