/* series.c: see series.h. */
#include "series.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

static double read_clock(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

double seconds_now(void) {
    return read_clock(CLOCK_MONOTONIC);
}

double seconds_of_thread(void) {
    return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

void series_add(Series *s, double value) {
    VEC_PUSH(&s->values, value);
    s->sum += value;
}

double series_mean(const Series *s) {
    return s->values.len ? s->sum / (double)s->values.len : 0;
}

static int rising(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

double series_median(Series *s) {
    size_t n = s->values.len;
    if (!n)
        return 0;
    qsort(s->values.at, n, sizeof(double), rising);
    return n % 2 ? s->values.at[n / 2] : (s->values.at[n / 2 - 1] + s->values.at[n / 2]) / 2;
}

double series_geomean(const Series *s) {
    double logs = 0;
    for (size_t i = 0; i < s->values.len; i++)
        logs += log(s->values.at[i]);
    return s->values.len ? exp(logs / (double)s->values.len) : 0;
}

void series_free(Series *s) {
    VEC_FREE(&s->values);
    s->sum = 0;
}
