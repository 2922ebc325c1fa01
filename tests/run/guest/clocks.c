/* clocks.c: time goes forward, and at the right pace. It is asked for so often that the kernel is seen to change what the vdso
 * reads. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

static double now(clockid_t clock) {
    struct timespec t;
    if (clock_gettime(clock, &t))
        return -1;
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(void) {
    double last = now(CLOCK_MONOTONIC), start = last, cpu = now(CLOCK_PROCESS_CPUTIME_ID);
    int back = 0;
    for (int i = 0; i < 2000000; i++) {
        double t = now(CLOCK_MONOTONIC);
        back += t < last;
        last = t;
    }
    struct timespec pause = {.tv_nsec = 30000000};
    nanosleep(&pause, NULL);
    double slept = now(CLOCK_MONOTONIC) - last;
    printf("back %d, slept %d, CPU time %d, forward %d\n", back, slept >= 0.03, now(CLOCK_PROCESS_CPUTIME_ID) > cpu,
           now(CLOCK_MONOTONIC) > start);
    struct timeval tv;
    gettimeofday(&tv, NULL);
    time_t t = time(NULL);
    printf("agree %d\n", labs(t - tv.tv_sec) <= 1 && labs((long)now(CLOCK_REALTIME) - t) <= 1);
    struct rusage usage;
    struct tms tms;
    printf("%d %d\n", getrusage(RUSAGE_SELF, &usage), times(&tms) != (clock_t)-1);
    t = 86400 * 365;
    struct tm *tm = gmtime(&t);
    char text[100];
    strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S %A %j", tm);
    printf("%s %ld\n", text, (long)timegm(tm));
    struct timespec resolution;
    printf("%d %d\n", clock_getres(CLOCK_MONOTONIC, &resolution), clock_gettime(9999, &resolution));
    return 0;
}
