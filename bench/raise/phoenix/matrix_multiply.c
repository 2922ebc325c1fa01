/* matrix_multiply.c: the product of two matrices of integers, row by row. */
#include "phoenix.h"

typedef struct Job {
    const int *a, *b;
    int *product;
    long size;
} Job;

static void *multiply_part(void *arg) {
    const Part *p = arg;
    const Job *job = p->job;
    long n = job->size;
    for (long row = p->begin; row < p->end; row++)
        for (long column = 0; column < n; column++) {
            int sum = 0;
            for (long k = 0; k < n; k++)
                sum += job->a[row * n + k] * job->b[k * n + column];
            job->product[row * n + column] = sum;
        }
    return NULL;
}

static int *make_matrix(long n, uint32_t seed) {
    int *m = make_room((size_t)(n * n) * sizeof(int));
    for (long i = 0; i < n * n; i++)
        m[i] = (int)(next_random(&seed) % 11);
    return m;
}

int main(int argc, char **argv) {
    long n = argument(argc, argv, 1, 500), sum = 0;
    Job job = {make_matrix(n, 3), make_matrix(n, 5), make_room((size_t)(n * n) * sizeof(int)), n};
    work_on_parts(multiply_part, &job, n, (int)argument(argc, argv, 2, 0));
    for (long i = 0; i < n * n; i++)
        sum = sum * 31 + job.product[i];
    printf("%d %d %ld\n", job.product[0], job.product[n * n - 1], sum);
    return 0;
}
