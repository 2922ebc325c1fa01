/* mandelbrot.c: escape times of points: a loop of doubles with an exit in its middle. */
#include <stdio.h>

#include "work.h"

static int escape(double cr, double ci, int limit) {
    double r = 0, i = 0, r2 = 0, i2 = 0;
    int n = 0;
    for (; n < limit && r2 + i2 < 4; n++) {
        i = 2 * r * i + ci;
        r = r2 - i2 + cr;
        r2 = r * r, i2 = i * i;
    }
    return n;
}

int main(int argc, char **argv) {
    long n = work_amount(argc, argv, 900);
    unsigned long sum = 0;
    for (long y = 0; y < n; y++)
        for (long x = 0; x < n; x++)
            sum = sum * 31 +
                  (unsigned long)escape(3.0 * (double)x / (double)n - 2, 2.0 * (double)y / (double)n - 1, 1000);
    printf("%lu\n", sum);
    return 0;
}
