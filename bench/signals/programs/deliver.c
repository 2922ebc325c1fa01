/* deliver.c: deliver WHAT: nanoseconds from cause to handler, or there and back again: the median of many. */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { TIMES = 1001, TURNS = 200, PAGE = 4096 };

static double delays[TIMES];
static volatile double sent;
static volatile int count;
static volatile uint64_t work;
static char *volatile page;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static int compare(const void *x, const void *y) {
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

static void report(const char *name, int n) {
    qsort(delays, (size_t)n, sizeof(*delays), compare);
    printf("%s %.0f\n", name, delays[n / 2]);
}

static void handle(int sig, void (*handler)(int, siginfo_t *, void *), int flags) {
    struct sigaction a = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | flags};
    sigaction(sig, &a, NULL);
}

static void on_nothing(int sig, siginfo_t *info, void *context) {
    count++;
}

static void on_sent(int sig, siginfo_t *info, void *context) {
    if (count < TIMES)
        delays[count++] = now() - sent;
}

static void on_write(int sig, siginfo_t *info, void *context) {
    mprotect(page, PAGE, PROT_READ | PROT_WRITE);
    count++;
}

/* ---------------------------------------------------------------------------------------------------- there and back again */

static void by_turns(const char *name, void (*turn)(void)) {
    for (int i = 0; i < TIMES; i++) {
        double start = now();
        for (int k = 0; k < TURNS; k++)
            turn();
        delays[i] = (now() - start) / TURNS;
    }
    report(name, TIMES);
}

static void raise_one(void) {
    raise(SIGUSR1);
}

static void write_to_page(void) {
    mprotect(page, PAGE, PROT_READ);
    *page = 1;
}

static void protect_only(void) {
    mprotect(page, PAGE, PROT_READ);
    mprotect(page, PAGE, PROT_READ | PROT_WRITE);
}

/* ------------------------------------------------------------------------------------------------ into a loop without calls */

/* Each is sent when the one before has come. */
static void *send_all(void *receiver) {
    for (int i = 0; i < TIMES; i++) {
        usleep(500);
        sent = now();
        pthread_kill(*(pthread_t *)receiver, SIGUSR1);
        while (count == i)
            usleep(100);
    }
    return NULL;
}

__attribute__((noinline)) static void loop_until(int n) {
    uint64_t x = 1;
    while (count < n)
        for (int i = 0; i < 1000000; i++)
            x = x * 6364136223846793005 + 1442695040888963407;
    work = x;
}

static void from_thread(void) {
    pthread_t self = pthread_self(), thread;
    handle(SIGUSR1, on_sent, 0);
    pthread_create(&thread, NULL, send_all, &self);
    loop_until(TIMES);
    pthread_join(thread, NULL);
    report("thread", TIMES);
}

static void from_timer(void) {
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    handle(SIGUSR1, on_sent, 0);
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    for (int i = 0; i < TIMES; i++) {
        sent = now() + 300000;
        struct itimerspec at = {.it_value = {(time_t)(sent / 1e9), (long)(sent - 1e9 * (double)(time_t)(sent / 1e9))}};
        timer_settime(timer, TIMER_ABSTIME, &at, NULL);
        uint64_t x = 1;
        while (count == i)
            for (int k = 0; k < 1000; k++)
                x = x * 6364136223846793005 + 1442695040888963407;
        work = x;
    }
    report("timer", TIMES);
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "raise";
    static char stack[1 << 16];
    page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!strcmp(what, "raise")) {
        handle(SIGUSR1, on_nothing, 0);
        by_turns(what, raise_one);
    } else if (!strcmp(what, "altstack")) {
        sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof(stack)}, NULL);
        handle(SIGUSR1, on_nothing, SA_ONSTACK);
        by_turns(what, raise_one);
    } else if (!strcmp(what, "barrier")) {
        handle(SIGSEGV, on_write, 0);
        by_turns(what, write_to_page);
    } else if (!strcmp(what, "protect")) {
        by_turns(what, protect_only);
    } else if (!strcmp(what, "thread")) {
        from_thread();
    } else if (!strcmp(what, "timer")) {
        from_timer();
    }
    return 0;
}
