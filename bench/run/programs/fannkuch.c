/* fannkuch.c: pancakes flipped in all permutations: small loops over small arrays. */
#include <stdio.h>

#include "work.h"

static int flips(const int *perm, int n) {
    int p[16], count = 0;
    for (int i = 0; i < n; i++)
        p[i] = perm[i];
    while (p[0]) {
        for (int i = 0, j = p[0]; i < j; i++, j--) {
            int t = p[i];
            p[i] = p[j], p[j] = t;
        }
        count++;
    }
    return count;
}

static long all(int n, int *most) {
    int perm[16], counter[16], r = n;
    long sum = 0;
    for (int i = 0; i < n; i++)
        perm[i] = i;
    for (long index = 0;; index++) {
        for (; r > 1; r--)
            counter[r - 1] = r;
        int f = flips(perm, n);
        *most = f > *most ? f : *most;
        sum += index % 2 ? -f : f;
        for (;; r++) {
            if (r == n)
                return sum;
            int first = perm[0];
            for (int i = 0; i < r; i++)
                perm[i] = perm[i + 1];
            perm[r] = first;
            if (--counter[r] > 0)
                break;
        }
    }
}

int main(int argc, char **argv) {
    long sum = 0;
    int most = 0;
    for (long n = work_amount(argc, argv, 4); n; n--)
        sum += all(10, &most);
    printf("%ld %d\n", sum, most);
    return 0;
}
