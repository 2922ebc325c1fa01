/* kmeans.c: points are sorted into clusters by their distance to the clusters' means, and the means computed again, until nothing changes. */
#include "phoenix.h"

enum { DIMENSIONS = 3, CLUSTERS = 100, RANGE = 1000 };

typedef struct Job {
    int **points, **means, *cluster;
    int changed[PARTS_MAX];
} Job;

static unsigned square_distance(const int *a, const int *b) {
    unsigned sum = 0;
    for (int i = 0; i < DIMENSIONS; i++) {
        int difference = a[i] - b[i];
        sum += (unsigned)(difference * difference);
    }
    return sum;
}

static void *assign_part(void *arg) {
    const Part *p = arg;
    Job *job = p->job;
    job->changed[p->index] = 0;
    for (long i = p->begin; i < p->end; i++) {
        unsigned best = square_distance(job->points[i], job->means[0]);
        int nearest = 0;
        for (int c = 1; c < CLUSTERS; c++) {
            unsigned distance = square_distance(job->points[i], job->means[c]);
            if (distance < best) {
                best = distance;
                nearest = c;
            }
        }
        if (job->cluster[i] != nearest) {
            job->cluster[i] = nearest;
            job->changed[p->index] = 1;
        }
    }
    return NULL;
}

static void *average_part(void *arg) {
    const Part *p = arg;
    Job *job = p->job;
    for (long c = p->begin; c < p->end; c++) {
        long sum[DIMENSIONS] = {0}, size = 0;
        for (long i = 0; job->points[i]; i++) {
            if (job->cluster[i] != c)
                continue;
            for (int d = 0; d < DIMENSIONS; d++)
                sum[d] += job->points[i][d];
            size++;
        }
        for (int d = 0; d < DIMENSIONS; d++)
            job->means[c][d] = size ? (int)(sum[d] / size) : 0;
    }
    return NULL;
}

static int **make_points(long count, uint32_t *seed) {
    int **points = make_room((size_t)(count + 1) * sizeof(*points));
    for (long i = 0; i < count; i++) {
        points[i] = make_room(DIMENSIONS * sizeof(int));
        for (int d = 0; d < DIMENSIONS; d++)
            points[i][d] = (int)(next_random(seed) % RANGE);
    }
    return points;
}

int main(int argc, char **argv) {
    long count = argument(argc, argv, 1, 20000), rounds = argument(argc, argv, 3, 30);
    int threads = (int)argument(argc, argv, 2, 0), changed = 1;
    uint32_t seed = 7;
    Job job = {0};
    job.points = make_points(count, &seed);
    job.means = make_points(CLUSTERS, &seed);
    job.cluster = make_room((size_t)count * sizeof(int));
    for (long i = 0; i < count; i++)
        job.cluster[i] = -1;
    while (changed && rounds--) {
        int parts = work_on_parts(assign_part, &job, count, threads);
        changed = 0;
        for (int i = 0; i < parts; i++)
            changed |= job.changed[i];
        work_on_parts(average_part, &job, CLUSTERS, threads);
    }
    for (int c = 0; c < CLUSTERS; c++)
        printf("%d %d %d\n", job.means[c][0], job.means[c][1], job.means[c][2]);
    return 0;
}
