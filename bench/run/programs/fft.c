/* fft.c: fast Fourier transforms there and back. */
#include <complex.h>
#include <math.h>
#include <stdio.h>

#include "work.h"

enum { BITS = 14, SIZE = 1 << BITS };

static double re[SIZE], im[SIZE], cosine[SIZE / 2], sine[SIZE / 2];

static void reorder(void) {
    for (int i = 0, j = 0; i < SIZE; i++) {
        if (i < j) {
            double t = re[i];
            re[i] = re[j], re[j] = t;
            t = im[i], im[i] = im[j], im[j] = t;
        }
        int bit = SIZE >> 1;
        for (; j & bit; bit >>= 1)
            j ^= bit;
        j |= bit;
    }
}

static void transform(double sign) {
    reorder();
    for (int len = 2; len <= SIZE; len <<= 1)
        for (int start = 0; start < SIZE; start += len)
            for (int k = 0; k < len / 2; k++) {
                double c = cosine[k * (SIZE / len)], s = sign * sine[k * (SIZE / len)];
                int a = start + k, b = a + len / 2;
                double tr = re[b] * c - im[b] * s, ti = re[b] * s + im[b] * c;
                re[b] = re[a] - tr, im[b] = im[a] - ti;
                re[a] += tr, im[a] += ti;
            }
}

int main(int argc, char **argv) {
    for (int k = 0; k < SIZE / 2; k++)
        cosine[k] = cos(2 * M_PI * k / SIZE), sine[k] = sin(2 * M_PI * k / SIZE);
    for (int i = 0; i < SIZE; i++)
        re[i] = i % 17 - 8, im[i] = 0;
    for (long n = work_amount(argc, argv, 900); n; n--) {
        transform(1);
        transform(-1);
        for (int i = 0; i < SIZE; i++)
            re[i] /= SIZE, im[i] /= SIZE;
    }
    double error = 0;
    for (int i = 0; i < SIZE; i++)
        error += fabs(re[i] - (i % 17 - 8)) + fabs(im[i]);
    printf("%s\n", error < 1e-6 ? "same" : "different");
    return 0;
}
