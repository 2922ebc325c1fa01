/* crowded.c: a program that has mapped all addresses there are still gets signals, runs code that it has not run before, and ends with its
 * own status. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static volatile int handled;

static void handle(int sig) {
    handled = sig;
}

static int compare(const void *a, const void *b) {
    return *(const int *)a - *(const int *)b;
}

int main(void) {
    enum { COUNT = 1000, STATUS = 3 };
    static int numbers[COUNT];
    static char line[100];
    for (size_t size = (size_t)1 << 46; size >= 4096; size /= 2)
        while (mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) != MAP_FAILED)
            ;
    signal(SIGUSR1, handle);
    raise(SIGUSR1);
    for (int i = 0; i < COUNT; i++)
        numbers[i] = i * 7919 % COUNT;
    qsort(numbers, COUNT, sizeof(int), compare);
    int len = snprintf(line, sizeof(line), "signal %d, %d to %d, %.3f\n", handled, numbers[0], numbers[COUNT - 1],
                       numbers[500] / 7.0);
    return write(1, line, (size_t)len) == len ? STATUS : 1;
}
