/* matrix.c: products of matrices of doubles, in the order that runs along rows. */
#include <stdio.h>

#include "work.h"

enum { N = 300 };
static double a[N][N], b[N][N], c[N][N];

int main(int argc, char **argv) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            a[i][j] = (i * 7 + j) % 13 - 6, b[i][j] = (i + j * 5) % 11 - 5;
    double trace = 0;
    for (long n = work_amount(argc, argv, 80); n; n--) {
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                c[i][j] = 0;
        for (int i = 0; i < N; i++)
            for (int k = 0; k < N; k++)
                for (int j = 0; j < N; j++)
                    c[i][j] += a[i][k] * b[k][j];
        for (int i = 0; i < N; i++)
            trace += c[i][i], a[i][(i + 1) % N] += 1;
    }
    printf("%.1f\n", trace);
    return 0;
}
