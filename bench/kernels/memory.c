/* memory.c: loops over arrays and strings. */
#include "kernels.h"

long KERNEL(sum_int)(const int *a, long n) {
    long sum = 0;
    for (long i = 0; i < n; i++)
        sum += a[i];
    return sum;
}

long KERNEL(dot_long)(const long *a, const long *b, long n) {
    long sum = 0;
    for (long i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

void KERNEL(copy_bytes)(char *to, const char *from, long n) {
    for (long i = 0; i < n; i++)
        to[i] = from[i];
}

long KERNEL(string_length)(const char *s) {
    const char *p = s;
    while (*p)
        p++;
    return p - s;
}

int KERNEL(string_compare)(const char *a, const char *b) {
    while (*a && *a == *b) {
        a++;
        b++;
    }
    return (unsigned char)*a - (unsigned char)*b;
}

long KERNEL(binary_search)(const int *a, long n, int key) {
    long low = 0, high = n;
    while (low < high) {
        long mid = low + (high - low) / 2;
        if (a[mid] == key)
            return mid;
        if (a[mid] < key)
            low = mid + 1;
        else
            high = mid;
    }
    return -1;
}

void KERNEL(bubble_sort)(int *a, int n) {
    for (int end = n; end > 1; end--)
        for (int i = 1; i < end; i++)
            if (a[i - 1] > a[i]) {
                int t = a[i];
                a[i] = a[i - 1];
                a[i - 1] = t;
            }
}

long KERNEL(count_runs)(const unsigned char *a, long n) {
    long runs = n > 0;
    for (long i = 1; i < n; i++)
        if (a[i] != a[i - 1])
            runs++;
    return runs;
}

uint32_t KERNEL(crc32)(const uint32_t *table, const unsigned char *p, long n) {
    uint32_t crc = 0xffffffff;
    for (long i = 0; i < n; i++)
        crc = table[(crc ^ p[i]) & 0xff] ^ crc >> 8;
    return ~crc;
}

uint64_t KERNEL(fnv)(const unsigned char *p, long n) {
    uint64_t hash = 0xcbf29ce484222325;
    for (long i = 0; i < n; i++) {
        hash ^= p[i];
        hash *= 0x100000001b3;
    }
    return hash;
}

uint64_t KERNEL(murmur)(const uint64_t *p, long n, uint64_t seed) {
    uint64_t hash = seed;
    for (long i = 0; i < n; i++) {
        uint64_t k = p[i] * 0x87c37b91114253d5;
        k = k << 31 | k >> 33;
        hash ^= k * 0x4cf5ad432745937f;
        hash = (hash << 27 | hash >> 37) * 5 + 0x52dce729;
    }
    hash ^= hash >> 33;
    hash *= 0xff51afd7ed558ccd;
    return hash ^ hash >> 33;
}
