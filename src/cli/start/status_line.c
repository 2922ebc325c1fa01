/* status_line.c: see status_line.h. */
#include "cli/start/status_line.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

/* When the line was last written, in tenths of a second; 0: it is not there. */
static u64 shown;

static u64 now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (u64)t.tv_sec * 10 + (u64)t.tv_nsec / 100000000 + 1;
}

void status_line_show(const char *what, u64 done, u64 total) {
    u64 time = now();
    if (time == shown || !isatty(STDERR_FILENO))
        return;
    fprintf(stderr, "\r\033[K%lu of %lu %s", done, total, what);
    shown = time;
}

void status_line_end(void) {
    if (shown)
        fprintf(stderr, "\r\033[K");
    shown = 0;
}
