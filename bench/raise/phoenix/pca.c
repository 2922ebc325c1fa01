/* pca.c: the first half of principal component analysis: the mean of each row of a matrix, and the covariance of each pair of rows. */
#include "phoenix.h"

typedef struct Job {
    int **matrix;
    int *mean, **covariance;
    long rows, columns;
} Job;

static void *mean_part(void *arg) {
    const Part *p = arg;
    const Job *job = p->job;
    for (long i = p->begin; i < p->end; i++) {
        int sum = 0;
        for (long k = 0; k < job->columns; k++)
            sum += job->matrix[i][k];
        job->mean[i] = sum / (int)job->columns;
    }
    return NULL;
}

static void *covariance_part(void *arg) {
    const Part *p = arg;
    const Job *job = p->job;
    for (long i = p->begin; i < p->end; i++)
        for (long j = i; j < job->rows; j++) {
            int sum = 0;
            for (long k = 0; k < job->columns; k++)
                sum += (job->matrix[i][k] - job->mean[i]) * (job->matrix[j][k] - job->mean[j]);
            job->covariance[i][j] = job->covariance[j][i] = sum / (int)(job->columns - 1);
        }
    return NULL;
}

static int **make_matrix(long rows, long columns, uint32_t seed) {
    int **m = make_room((size_t)rows * sizeof(*m));
    for (long i = 0; i < rows; i++) {
        m[i] = make_room((size_t)columns * sizeof(int));
        for (long k = 0; seed && k < columns; k++)
            m[i][k] = (int)(next_random(&seed) % 100);
    }
    return m;
}

int main(int argc, char **argv) {
    long n = argument(argc, argv, 1, 1400), sum = 0;
    int threads = (int)argument(argc, argv, 2, 0);
    Job job = {make_matrix(n, n, 9), make_room((size_t)n * sizeof(int)), make_matrix(n, n, 0), n, n};
    work_on_parts(mean_part, &job, n, threads);
    work_on_parts(covariance_part, &job, n, threads);
    for (long i = 0; i < n; i++)
        for (long j = 0; j < n; j++)
            sum = sum * 31 + job.covariance[i][j];
    printf("%d %d %ld\n", job.mean[0], job.covariance[0][0], sum);
    return 0;
}
