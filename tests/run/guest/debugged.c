/* debugged.c: what the tests of -g look at: calls, a variable that changes, threads, signals, a call that waits, fork, exec, a fault. The first argument says what to do. */
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

volatile int counter;
volatile double product = 1.5;
static volatile int stop;

__attribute__((noinline)) int leaf(int a, int b) {
    counter += a * b;
    return counter;
}

static void calls(void) {
    for (int i = 0; i < 5; i++) {
        leaf(i, 2);
        product *= 1.5;
    }
    printf("%d %g\n", counter, product);
}

__attribute__((noinline)) static void *spin(void *number) {
    unsigned long n = (unsigned long)number;
    while (!stop)
        n = n * 31 + 7;
    return (void *)n;
}

static void threads(void) {
    pthread_t thread[3];
    for (long i = 0; i < 3; i++)
        pthread_create(&thread[i], NULL, spin, (void *)i);
    leaf(1, 1);
    while (!stop)
        usleep(1000);
    for (int i = 0; i < 3; i++)
        pthread_join(thread[i], NULL);
    puts("joined");
}

static void handler(int sig) {
    counter += sig;
}

static void signals(void) {
    signal(SIGRTMAX, handler);
    raise(SIGRTMAX);
    counter -= SIGRTMAX;
    signal(SIGUSR1, handler);
    raise(SIGUSR1);
    raise(SIGUSR1);
    printf("%d\n", counter);
}

static void waits(void) {
    char byte;
    signal(SIGUSR1, handler);
    puts(read(0, &byte, 1) == 1 ? "read" : "failed");
    if (counter)
        printf("%d\n", counter);
}

static void forks(void) {
    pid_t child = fork();
    if (child == 0)
        _exit(leaf(3, 3));
    int status;
    waitpid(child, &status, 0);
    printf("%d %d\n", WEXITSTATUS(status), leaf(1, 1));
}

/* The child has this memory until it is another program. */
static void spawns(void) {
    char *const arguments[] = {"sh", "-c", "exit 9", NULL};
    pid_t child;
    int status = 0;
    leaf(1, 1);
    if (posix_spawn(&child, "/bin/sh", NULL, NULL, arguments, arguments + 3) == 0)
        waitpid(child, &status, 0);
    printf("%d %d\n", WEXITSTATUS(status), leaf(1, 1));
}

static void faults(void) {
    *(volatile int *)8 = 1;
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "calls";
    static const struct {
        const char *name;
        void (*function)(void);
    } all[] = {{"calls", calls}, {"threads", threads}, {"signals", signals}, {"waits", waits},
               {"forks", forks}, {"spawns", spawns},   {"faults", faults}};
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
        if (!strcmp(all[i].name, what))
            all[i].function();
    if (!strcmp(what, "execs"))
        execl(argv[0], argv[0], "calls", (char *)NULL);
    return 7;
}
