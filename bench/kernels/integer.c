/* integer.c: loops over numbers. */
#include "kernels.h"

long KERNEL(gcd)(unsigned long a, unsigned long b) {
    while (b) {
        unsigned long r = a % b;
        a = b;
        b = r;
    }
    return (long)a;
}

long KERNEL(collatz)(unsigned long n) {
    long steps = 0;
    while (n > 1) {
        n = n % 2 ? 3 * n + 1 : n / 2;
        steps++;
    }
    return steps;
}

unsigned long KERNEL(fibonacci)(int n) {
    unsigned long a = 0, b = 1;
    for (int i = 0; i < n; i++) {
        unsigned long next = a + b;
        a = b;
        b = next;
    }
    return a;
}

int KERNEL(popcount_loop)(unsigned long v) {
    int count = 0;
    for (; v; v >>= 1)
        count += v & 1;
    return count;
}

long KERNEL(popcount_array)(const uint64_t *a, long n) {
    long count = 0;
    for (long i = 0; i < n; i++) {
        uint64_t v = a[i];
        v -= v >> 1 & 0x5555555555555555;
        v = (v & 0x3333333333333333) + (v >> 2 & 0x3333333333333333);
        v = (v + (v >> 4)) & 0x0f0f0f0f0f0f0f0f;
        count += (long)(v * 0x0101010101010101 >> 56);
    }
    return count;
}

int KERNEL(is_prime)(unsigned n) {
    if (n < 2)
        return 0;
    for (unsigned d = 2; d * d <= n; d++)
        if (n % d == 0)
            return 0;
    return 1;
}

void KERNEL(matrix_int)(int *c, const int *a, const int *b, int n) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            int sum = 0;
            for (int k = 0; k < n; k++)
                sum += a[i * n + k] * b[k * n + j];
            c[i * n + j] = sum;
        }
}
