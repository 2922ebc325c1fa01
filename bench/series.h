/* series.h: a clock, and a series of measurements with its mean and median. */
#ifndef BENCH_SERIES_H
#define BENCH_SERIES_H

#include "base/base.h"

double seconds_now(void);       /* monotonic */
double seconds_of_thread(void); /* what this thread has spent on a CPU: others on the machine do not count */

typedef struct Series {
    VEC(double) values;
    double sum;
} Series;

void series_add(Series *s, double value);
double series_mean(const Series *s); /* 0 of an empty series, as the others */
double series_median(Series *s);     /* sorts it */
double series_geomean(const Series *s);
void series_free(Series *s);

#endif
