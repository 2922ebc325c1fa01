/* stream.c: sums over arrays that no cache holds. */
#include "team.h"

enum { ITEMS = 4 << 20, ROUNDS = 100 };

static double *a, *b, *c;

static void work(Member *m) {
    long first = team_first(m, m->index, ITEMS), end = team_first(m, m->index + 1, ITEMS);
    for (long i = first; i < end; i++)
        b[i] = (double)(i & 1023), c[i] = (double)(i & 255), a[i] = 0;
    for (int k = 0; k < ROUNDS; k++)
        for (long i = first; i < end; i++)
            a[i] = a[i] * 0.5 + b[i] + 3 * c[i];
    double sum = 0;
    for (long i = first; i < end; i++)
        sum += a[i] > 500;
    m->result = (uint64_t)sum;
}

int main(int argc, char **argv) {
    a = malloc(ITEMS * sizeof(double));
    b = malloc(ITEMS * sizeof(double));
    c = malloc(ITEMS * sizeof(double));
    printf("%lu\n", (unsigned long)team_run(team_size(argc, argv), work));
    return 0;
}
