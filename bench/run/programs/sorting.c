/* sorting.c: a quicksort of our own, and qsort with a function that compares. */
#include <stdio.h>
#include <string.h>

#include "work.h"

enum { N = 1 << 17 };
static int numbers[N], copy[N];

static void quicksort(int *a, long n) {
    while (n > 16) {
        int pivot = a[n / 2];
        long i = 0, j = n - 1;
        for (;; i++, j--) {
            while (a[i] < pivot)
                i++;
            while (a[j] > pivot)
                j--;
            if (i >= j)
                break;
            int t = a[i];
            a[i] = a[j], a[j] = t;
        }
        quicksort(a, i);
        a += i, n -= i;
    }
    for (long i = 1; i < n; i++) {
        int v = a[i];
        long j = i;
        for (; j > 0 && a[j - 1] > v; j--)
            a[j] = a[j - 1];
        a[j] = v;
    }
}

static int compare(const void *a, const void *b) {
    return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b);
}

int main(int argc, char **argv) {
    uint32_t seed = 11, bad = 0;
    for (int i = 0; i < N; i++)
        numbers[i] = (int)work_random(&seed);
    for (long n = work_amount(argc, argv, 30); n; n--) {
        memcpy(copy, numbers, sizeof(copy));
        quicksort(copy, N);
        for (int i = 1; i < N; i++)
            bad += copy[i - 1] > copy[i];
        memcpy(copy, numbers, sizeof(copy));
        qsort(copy, N, sizeof(int), compare);
        for (int i = 1; i < N; i++)
            bad += copy[i - 1] > copy[i];
    }
    printf("%u %d\n", bad, copy[N / 2]);
    return 0;
}
