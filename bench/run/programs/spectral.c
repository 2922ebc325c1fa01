/* spectral.c: the largest singular value of an infinite matrix: divisions in nested loops. */
#include <math.h>
#include <stdio.h>

#include "work.h"

static double element(long i, long j) {
    return 1.0 / (double)((i + j) * (i + j + 1) / 2 + i + 1);
}

static void multiply(long n, const double *v, double *out, int transposed) {
    for (long i = 0; i < n; i++) {
        double sum = 0;
        for (long j = 0; j < n; j++)
            sum += (transposed ? element(j, i) : element(i, j)) * v[j];
        out[i] = sum;
    }
}

int main(int argc, char **argv) {
    long n = work_amount(argc, argv, 4000);
    double *u = malloc(sizeof(double) * (size_t)n), *v = malloc(sizeof(double) * (size_t)n),
           *t = malloc(sizeof(double) * (size_t)n);
    for (long i = 0; i < n; i++)
        u[i] = 1;
    for (int round = 0; round < 10; round++) {
        multiply(n, u, t, 0), multiply(n, t, v, 1);
        multiply(n, v, t, 0), multiply(n, t, u, 1);
    }
    double uv = 0, vv = 0;
    for (long i = 0; i < n; i++)
        uv += u[i] * v[i], vv += v[i] * v[i];
    printf("%.9f\n", sqrt(uv / vv));
    return 0;
}
