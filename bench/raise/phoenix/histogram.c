/* histogram.c: how often each value of red, green and blue occurs in a picture of three bytes per point. */
#include "phoenix.h"

typedef struct Job {
    const unsigned char *points;
    long counts[PARTS_MAX][3][256];
} Job;

static void *count_part(void *arg) {
    const Part *p = arg;
    Job *job = p->job;
    long(*counts)[256] = job->counts[p->index];
    for (long i = p->begin; i < p->end; i++) {
        const unsigned char *point = job->points + 3 * i;
        counts[0][point[0]]++;
        counts[1][point[1]]++;
        counts[2][point[2]]++;
    }
    return NULL;
}

int main(int argc, char **argv) {
    long count = argument(argc, argv, 1, 10000000), repeat = argument(argc, argv, 3, 6);
    int threads = (int)argument(argc, argv, 2, 0), parts = 1;
    unsigned char *points = make_room((size_t)(3 * count));
    Job *job = make_room(sizeof(*job));
    uint32_t seed = 1;
    for (long i = 0; i < 3 * count; i++)
        points[i] = (unsigned char)(next_random(&seed) >> 11 & next_random(&seed) >> 7);
    job->points = points;
    for (long i = 0; i < repeat; i++)
        parts = work_on_parts(count_part, job, count, threads);
    for (int colour = 0; colour < 3; colour++)
        for (int value = 0; value < 256; value++) {
            long sum = 0;
            for (int i = 0; i < parts; i++)
                sum += job->counts[i][colour][value];
            printf("%d %d %ld\n", colour, value, sum);
        }
    free(points);
    free(job);
    return 0;
}
