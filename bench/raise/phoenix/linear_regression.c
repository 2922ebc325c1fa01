/* linear_regression.c: the line that fits best to points of two bytes each. */
#include "phoenix.h"

typedef struct Point {
    unsigned char x, y;
} Point;

typedef struct Sums {
    long x, y, xx, yy, xy;
    char apart[64]; /* from those of other threads */
} Sums;

typedef struct Job {
    const Point *points;
    Sums sums[PARTS_MAX];
} Job;

static void *sum_part(void *arg) {
    const Part *p = arg;
    Job *job = p->job;
    Sums *s = &job->sums[p->index];
    for (long i = p->begin; i < p->end; i++) {
        long x = job->points[i].x, y = job->points[i].y;
        s->x += x;
        s->y += y;
        s->xx += x * x;
        s->yy += y * y;
        s->xy += x * y;
    }
    return NULL;
}

int main(int argc, char **argv) {
    long count = argument(argc, argv, 1, 20000000), repeat = argument(argc, argv, 3, 8), n = count * repeat;
    int threads = (int)argument(argc, argv, 2, 0), parts = 1;
    Point *points = make_room((size_t)count * sizeof(*points));
    Job *job = make_room(sizeof(*job));
    Sums all = {0};
    uint32_t seed = 13;
    for (long i = 0; i < count; i++) {
        points[i].x = (unsigned char)next_random(&seed);
        points[i].y = (unsigned char)(points[i].x / 2 + next_random(&seed) % 60);
    }
    job->points = points;
    for (long i = 0; i < repeat; i++)
        parts = work_on_parts(sum_part, job, count, threads);
    for (int i = 0; i < parts; i++) {
        all.x += job->sums[i].x;
        all.y += job->sums[i].y;
        all.xx += job->sums[i].xx;
        all.yy += job->sums[i].yy;
        all.xy += job->sums[i].xy;
    }
    double mean_x = (double)all.x / (double)n, mean_y = (double)all.y / (double)n;
    double b = ((double)all.xy / (double)n - mean_x * mean_y) / ((double)all.xx / (double)n - mean_x * mean_x);
    printf("a %.9f b %.9f\n%ld %ld %ld %ld %ld\n", mean_y - b * mean_x, b, all.x, all.y, all.xx, all.yy, all.xy);
    return 0;
}
