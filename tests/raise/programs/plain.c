/* plain.c: a small program that has a bit of everything that needs more than instructions: arguments, memory, a signal handler on a stack of its
 * own that comes while code runs, a jump out of it, a thread that ends early. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

static jmp_buf back;
static volatile int handled;
static __thread int own = 5;
static __thread const char *name = "thread"; /* a pointer that is relocated */

/* Uses so much stack that it would reach frames of what was interrupted. */
static __attribute__((noinline)) int deep(int n) {
    volatile char room[256];
    memset((char *)room, n, sizeof(room));
    return n ? deep(n - 1) + room[7] : room[0];
}

static void handler(int number) {
    handled += deep(50) == 50 * 51 / 2 && number == SIGALRM;
}

static void leap(int number) {
    longjmp(back, number);
}

/* Recursive, so that there are frames to be overwritten; waits until handlers have come. */
static __attribute__((noinline)) long sum(long n, int wanted) {
    long values[8];
    for (int i = 0; i < 8; i++)
        values[i] = n + i;
    if (n)
        values[3] += sum(n - 1, wanted);
    else
        while (handled < wanted)
            ;
    long total = 0;
    for (int i = 0; i < 8; i++)
        total += values[i];
    return total;
}

static void *work(void *arg) {
    own += 2;
    if (arg)
        pthread_exit((void *)(long)own);
    return NULL;
}

/* How many mappings of memory are there? */
static int mappings(void) {
    FILE *maps = fopen("/proc/self/maps", "r");
    int lines = 0;
    for (int c; (c = fgetc(maps)) != EOF;)
        lines += c == '\n';
    fclose(maps);
    return lines;
}

static int by_value(const void *a, const void *b) {
    return *(const int *)a - *(const int *)b;
}

int main(int argc, char **argv) {
    static char stack[1 << 16];
    stack_t other = {.ss_sp = stack, .ss_size = sizeof(stack)};
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
    struct itimerval often = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
    int numbers[] = {5, 3, 9, 1};
    pthread_t thread;
    void *result;
    sigaltstack(&other, NULL);
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    printf("%ld\n", sum(20, 5));
    setitimer(ITIMER_REAL, &never, NULL);
    signal(SIGUSR1, leap);
    int leapt = setjmp(back);
    if (!leapt)
        raise(SIGUSR1);
    printf("%d %s\n", leapt == SIGUSR1, argc > 1 ? argv[argc - 1] : "none");
    int before = mappings();
    for (int i = 0; i < 50; i++) {
        pthread_create(&thread, NULL, work, argv[0]);
        pthread_join(thread, &result);
    }
    printf("%d\n", mappings() < before + 30);
    qsort(numbers, 4, sizeof(*numbers), by_value);
    printf("%s %ld %d %d %.3Lf\n", name, (long)result, own, numbers[3], (long double)argc / 7);
    return 7;
}
