/* signals.c: simple handlers: raised, by timers, by children, blocked and pending, with their information. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "await.h"

static volatile sig_atomic_t *count; /* by signal; children see them, too */
static volatile sig_atomic_t code, sender_is_me, value, order[8], order_len;

static void simple(int sig) {
    count[sig]++;
}

static void informed(int sig, siginfo_t *info, void *context) {
    count[sig]++;
    code = info->si_code;
    sender_is_me = info->si_pid == getpid();
    value = info->si_value.sival_int;
    (void)context;
}

static void ordered(int sig) {
    order[order_len++ & 7] = sig;
}

static void nested(int sig) {
    order[order_len++ & 7] = sig;
    if (order_len < 5)
        raise(sig == SIGUSR1 ? SIGUSR2 : SIGUSR1);
}

static void install(int sig, void (*f)(int), int flags) {
    struct sigaction action = {.sa_handler = f, .sa_flags = flags};
    sigaction(sig, &action, NULL);
}

static void raised(void) {
    install(SIGUSR1, simple, 0);
    for (int i = 0; i < 1000; i++)
        raise(SIGUSR1);
    struct sigaction action = {.sa_sigaction = informed, .sa_flags = SA_SIGINFO};
    sigaction(SIGUSR2, &action, NULL);
    kill(getpid(), SIGUSR2);
    printf("raised %d, SIGUSR2 %d, code is SI_USER: %d, from me: %d\n", count[SIGUSR1], count[SIGUSR2], code == SI_USER,
           sender_is_me);
    sigaction(SIGRTMIN + 1, &action, NULL);
    sigqueue(getpid(), SIGRTMIN + 1, (union sigval){.sival_int = 1234});
    printf("queued: %d, value %d\n", code == SI_QUEUE, value);
}

/* Ticks until it is told to stop: a single alarm could come before what it is to interrupt. */
static void tick(int microseconds) {
    struct itimerval often = {.it_value = {.tv_usec = microseconds}, .it_interval = {.tv_usec = microseconds}};
    setitimer(ITIMER_REAL, &often, NULL);
}

static void timers(void) {
    install(SIGALRM, simple, 0);
    tick(20000);
    int result = pause();
    printf("pause %d %s, alarms %d\n", result, errno == EINTR ? "EINTR" : "?", count[SIGALRM] > 0);
    char byte;
    int fd[2];
    while (pipe(fd))
        ;
    result = (int)read(fd[0], &byte, 1);
    printf("read %d %s\n", result, errno == EINTR ? "EINTR" : "?");
    tick(0);
}

/* SA_RESTART: the interrupted read goes on, and gets what the child writes when it has been interrupted a few times. */
static void restarted(void) {
    int fd[2];
    if (pipe(fd))
        return;
    install(SIGALRM, simple, SA_RESTART);
    fflush(stdout);
    count[SIGALRM] = 0;
    int here = proc_directory();
    pid_t me = getpid(), child = fork();
    if (child == 0) {
        await_sleep(here);
        for (int before = count[SIGALRM]; count[SIGALRM] < before + 3 && getppid() == me;)
            usleep(1000);
        _exit(write(fd[1], "x", 1) != 1);
    }
    tick(10000);
    char byte = 0;
    int result = (int)read(fd[0], &byte, 1), status;
    tick(0);
    close(here);
    while (waitpid(child, &status, 0) < 0)
        ;
    printf("restarted: %d %c, alarms %d\n", result, byte, count[SIGALRM] >= 3);
}

static void children(void) {
    sigset_t set, old;
    install(SIGCHLD, simple, 0);
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigprocmask(SIG_BLOCK, &set, &old);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        _exit(33);
    while (!count[SIGCHLD])
        sigsuspend(&old);
    sigprocmask(SIG_SETMASK, &old, NULL);
    int status;
    printf("SIGCHLD %d, status %d\n", count[SIGCHLD], waitpid(child, &status, 0) == child ? WEXITSTATUS(status) : -1);
}

static void masked(void) {
    sigset_t set, pending;
    install(SIGUSR1, ordered, 0);
    install(SIGUSR2, ordered, 0);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGUSR2);
    sigprocmask(SIG_BLOCK, &set, NULL);
    raise(SIGUSR1);
    raise(SIGUSR1);
    printf("blocked: %d", (int)order_len);
    sigpending(&pending);
    printf(", pending: %d %d", sigismember(&pending, SIGUSR1), sigismember(&pending, SIGUSR2));
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    printf(", then: %d\n", (int)order_len);
}

static void others(void) {
    order_len = 0;
    install(SIGUSR1, nested, 0);
    install(SIGUSR2, nested, 0);
    raise(SIGUSR1);
    printf("nested:");
    for (int i = 0; i < order_len; i++)
        printf(" %s", order[i] == SIGUSR1 ? "1" : "2");
    install(SIGUSR1, simple, SA_RESETHAND);
    raise(SIGUSR1);
    struct sigaction now;
    sigaction(SIGUSR1, NULL, &now);
    printf("; reset: %d", now.sa_handler == SIG_DFL);
    signal(SIGTERM, SIG_IGN);
    raise(SIGTERM);
    sigaction(SIGTERM, NULL, &now);
    printf("; ignored: %d; no SIGKILL: %d\n", now.sa_handler == SIG_IGN, signal(SIGKILL, simple) == SIG_ERR);
}

int main(void) {
    count = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    raised();
    timers();
    restarted();
    children();
    masked();
    others();
    return 0;
}
