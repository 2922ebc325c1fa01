/* ends.c: a program that ends in the way its argument says, for tests of what a tool still gets to do. It prints "ready" first. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile unsigned long turns;
static volatile bool stop;
static volatile int *volatile nowhere = (int *)16;

static void *calls(void *unused) {
    while (!stop)
        getppid();
    return unused;
}

/* Copies of a program with threads that are busy: none of them may hang. */
static void forks(void) {
    enum { THREADS = 3, FORKS = 40 };
    pthread_t thread[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, calls, NULL);
    for (int i = 0; i < FORKS; i++) {
        pid_t child = fork();
        if (child == 0) {
            for (int k = 0; k < 20; k++)
                getppid();
            _exit(0);
        }
        int status = -1;
        if (waitpid(child, &status, 0) != child || status)
            printf("a copy has status %x\n", status);
    }
    stop = true;
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
}

/* Descriptors that are not the program's are not there for it, wherever it looks for them. */
static void descriptors(void) {
    for (int fd = 3; fd < 1100; fd++)
        if (fcntl(fd, F_GETFD) >= 0 && close(fd) == 0)
            printf("descriptor %d was open\n", fd);
    for (int fd = 1000; fd < 1020; fd++)
        if (dup2(1, fd) != fd || close(fd))
            printf("descriptor %d: %s\n", fd, strerror(errno));
    syscall(SYS_close_range, 3, ~0u, 0);
}

/* For tests of what a tool is told of functions and their arguments. */
__attribute__((noipa, visibility("default"))) long nine(long a, long b, long c, long d, long e, long f, long g, long h,
                                                        long i) {
    return a + b + c + d + e + f + g + h + 100 * i;
}

/* Other names of it, which are not the one to be told. */
#define NINE long, long, long, long, long, long, long, long, long
long __nine(NINE) __attribute__((alias("nine")));
long exported_nine(NINE) __attribute__((weak, alias("nine")));
static long a_nine(NINE) __attribute__((used, alias("nine")));

static void *nothing(void *unused) {
    return unused;
}

static void *wait_for_ever(void *unused) {
    for (;;)
        pause();
    return unused;
}

static void on_alarm(int sig) {
    (void)sig;
}

static void end(const char *how) {
    pthread_t thread;
    if (!strcmp(how, "pause"))
        wait_for_ever(NULL);
    else if (!strcmp(how, "loop"))
        for (;;)
            turns++;
    else if (!strcmp(how, "segv"))
        *nowhere = 1;
    else if (!strcmp(how, "abort"))
        abort();
    else if (!strcmp(how, "threads")) {
        for (int i = 0; i < 3; i++)
            pthread_create(&thread, NULL, nothing, NULL), pthread_join(thread, NULL);
    } else if (!strcmp(how, "ended")) {
        pthread_create(&thread, NULL, nothing, NULL), pthread_join(thread, NULL);
        printf("ended\n"), fflush(stdout);
        wait_for_ever(NULL);
    } else if (!strcmp(how, "waiting")) { /* the signal may come to either thread */
        pthread_create(&thread, NULL, wait_for_ever, NULL);
        wait_for_ever(NULL);
    } else if (!strcmp(how, "forks"))
        forks();
    else if (!strcmp(how, "nine"))
        printf("%ld\n", nine(1, 2, 3, 4, 5, 6, 7, 8, 9)), getppid();
    else if (!strcmp(how, "descriptors"))
        descriptors();
    else if (!strcmp(how, "small")) { /* no file may have more than a page */
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){4096, 4096});
        for (int i = 0; i < 2000; i++)
            getppid();
    } else if (!strcmp(how, "fork"))
        fork() ? wait(NULL) : getppid();
    else if (!strcmp(how, "vfork")) {
        if (vfork() == 0)
            _exit(3);
    } else if (!strcmp(how, "exec"))
        execl("/proc/self/exe", "ends", "exit", NULL);
    else if (!strcmp(how, "actions")) { /* what the program is told about its signals */
        struct sigaction a = {.sa_handler = on_alarm}, old;
        sigaction(SIGTERM, &a, &old);
        printf("%d ", old.sa_handler == SIG_DFL);
        a.sa_handler = SIG_DFL;
        sigaction(SIGTERM, &a, &old);
        printf("%d ", old.sa_handler == on_alarm);
        sigaction(SIGTERM, NULL, &old);
        printf("%d ", old.sa_handler == SIG_DFL && !old.sa_flags);
        sigaction(SIGPIPE, NULL, &old);
        printf("%d\n", old.sa_handler == SIG_IGN);
        fflush(stdout);
        raise(SIGTERM);
    } else if (atoi(how)) /* ends by this signal, sent to itself */
        raise(atoi(how));
}

int main(int argc, char **argv) {
    if (argc != 2)
        return 2;
    if (write(1, "ready\n", 6) != 6)
        return 3;
    end(argv[1]);
    return 5;
}
