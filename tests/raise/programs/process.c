/* process.c: static and thread-local variables, the C library's own variables, threads, signals, constructors. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

extern char **environ;
static int counter, ready = 5;
static _Thread_local int own = 3;
static _Thread_local char buffer[100];
_Thread_local long shared_name = 77;
static int pointed = 19;
static _Thread_local int *pointer =
    &pointed; /* the dynamic linker writes where each thread's variables are copied from */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile sig_atomic_t signals;

__attribute__((constructor)) static void before(void) {
    ready *= 2;
}
__attribute__((destructor)) static void after(void) {
    fprintf(stdout, "after %d\n", counter);
}

static void *work(void *arg) {
    long n = (long)arg;
    own += (int)n;
    snprintf(buffer, sizeof(buffer), "%ld", n * n);
    for (int i = 0; i < 1000; i++) {
        pthread_mutex_lock(&lock);
        counter++;
        pthread_mutex_unlock(&lock);
    }
    __atomic_fetch_add(&ready, 1, __ATOMIC_SEQ_CST);
    return (void *)(n * 100 + own + atoi(buffer) + shared_name);
}

static void on_signal(int number) {
    signals += number;
}

static void on_info(int number, siginfo_t *info, void *context) {
    signals += number + (info->si_signo == number) + (context != NULL);
}

/* A signal comes while a loop of the program's own runs. */
static long spin(void) {
    long n = 0;
    int before_it = signals;
    struct sigaction act = {.sa_handler = on_signal};
    sigaction(SIGALRM, &act, NULL);
    ualarm(1000, 0);
    while (signals == before_it)
        n++;
    return n > 0;
}

int main(int argc, char **argv) {
    pthread_t threads[6];
    long total = 0;
    struct sigaction act = {.sa_flags = SA_SIGINFO};
    act.sa_sigaction = on_info;
    for (long i = 0; i < 6; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < 6; i++) {
        void *result;
        pthread_join(threads[i], &result);
        total += (long)result;
    }
    printf("%d\n", (*pointer)++);
    printf("%d %d\n", syscall(SYS_gettid) == getpid(),
           (int)syscall(SYS_getxattr, "/", "user.none", &total, (size_t)0) < 0);
    fprintf(stdout, "%ld %d %d %d %s\n", total, counter, own, ready, strrchr(argv[0], '/') ? "path" : "name");
    signal(SIGUSR1, on_signal);
    sigaction(SIGUSR2, &act, NULL);
    raise(SIGUSR1);
    raise(SIGUSR2);
    printf("%d %ld\n", (int)signals, spin());
    setenv("RAISED", "yes", 1);
    int found = 0;
    for (char **e = environ; *e; e++)
        found += !strcmp(*e, "RAISED=yes");
    fputs(found ? "environ\n" : "none\n", stderr);
    if (argc > 5)
        abort();
    return getpid() > 0 ? 9 : 8;
}
