/* suspended.c: masks for the time of a call, waiting for blocked signals in every way, and what exec hands on; of signals of faults, too. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "await.h"

enum { LONG_SECONDS = 60 }; /* never over, however busy the machine is */
enum { OFTEN = 5000 };

static volatile sig_atomic_t order[16], order_len;
static volatile sig_atomic_t usr2_blocked, segv_blocked;

static void note(int sig) {
    sigset_t now;
    sigprocmask(SIG_SETMASK, NULL, &now);
    usr2_blocked = sigismember(&now, SIGUSR2);
    segv_blocked = sigismember(&now, SIGSEGV);
    order[order_len++ & 15] = sig;
}

static sigset_t set_of(int a, int b) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, a);
    if (b)
        sigaddset(&set, b);
    return set;
}

static void block(int how, int a, int b) {
    sigset_t set = set_of(a, b);
    sigprocmask(how, &set, NULL);
}

static void report(const char *what, int result) {
    sigset_t now;
    int error = errno;
    sigprocmask(SIG_SETMASK, NULL, &now);
    printf("%s: %d %s, handled", what, result, result < 0 ? strerrorname_np(error) : "-");
    for (int i = 0; i < order_len; i++)
        printf(" %d", (int)order[i]);
    printf(", inside %d %d, now %d %d\n", (int)usr2_blocked, (int)segv_blocked, sigismember(&now, SIGUSR2),
           sigismember(&now, SIGSEGV));
    order_len = 0;
}

/* ------------------------------------------------------------------------------------------------ masks for a call's time */

typedef int Wait(const sigset_t *mask);

static int by_sigsuspend(const sigset_t *mask) {
    return sigsuspend(mask);
}

static int by_ppoll(const sigset_t *mask) {
    return ppoll(NULL, 0, &(struct timespec){LONG_SECONDS, 0}, mask);
}

static int by_pselect(const sigset_t *mask) {
    return pselect(0, NULL, NULL, NULL, &(struct timespec){LONG_SECONDS, 0}, mask);
}

static int by_epoll_pwait(const sigset_t *mask) {
    struct epoll_event event;
    int fd = epoll_create1(0), result = epoll_pwait(fd, &event, 1, LONG_SECONDS * 1000, mask), error = errno;
    close(fd);
    errno = error;
    return result;
}

static void suspend(const char *name, Wait *wait_with) {
    static const int pairs[][2] = {
        {SIGUSR1, 0}, {SIGUSR1, SIGUSR2}, {SIGSEGV, 0}, {SIGUSR1, SIGSEGV}, {SIGTRAP, SIGBUS}};
    printf("%s\n", name);
    for (int i = 0; i < 5; i++) {
        const int *p = pairs[i];
        sigset_t none;
        sigemptyset(&none);
        block(SIG_BLOCK, p[0], p[1]);
        raise(p[0]);
        if (p[1])
            raise(p[1]);
        report("  pending", wait_with(&none));
        sigset_t one = set_of(SIGUSR2, SIGSEGV); /* stays blocked meanwhile */
        block(SIG_BLOCK, SIGUSR2, SIGSEGV);
        raise(SIGSEGV);
        raise(SIGUSR2);
        block(SIG_BLOCK, SIGUSR1, 0);
        raise(SIGUSR1);
        report("  others stay blocked", wait_with(&one));
        block(SIG_UNBLOCK, SIGUSR1, SIGUSR2);
        block(SIG_UNBLOCK, SIGSEGV, SIGBUS);
        block(SIG_UNBLOCK, SIGTRAP, 0);
        report("  unblocked", 0);
    }
}

/* Sent by a child while the call waits. */
static void suspend_longer(const char *name, Wait *wait_with, int sig) {
    sigset_t none;
    sigemptyset(&none);
    block(SIG_BLOCK, sig, 0);
    int here = proc_directory();
    pid_t me = getpid(), child = fork();
    if (!child) {
        await_sleep(here);
        kill(me, sig);
        _exit(0);
    }
    int result = wait_with(&none);
    report(name, result);
    block(SIG_UNBLOCK, sig, 0);
    waitpid(child, NULL, 0);
    close(here);
}

/* --------------------------------------------------------------------------------------------------- waiting for signals */

static void burn(double seconds) {
    struct timespec start, now;
    clock_gettime(CLOCK_MONOTONIC, &start);
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while ((double)(now.tv_sec - start.tv_sec) + 1e-9 * (double)(now.tv_nsec - start.tv_nsec) < seconds);
}

/* Until the other one, whose directory of /proc this is, has taken what was sent before and waits again. */
static void wait_for_turn(int fd, int directory) {
    char c;
    read(fd, &c, 1);
    await_sleep(directory);
}

/* How many of those that it sends itself are not pending? */
static int count_lost(int sig) {
    int lost = 0;
    sigset_t set = set_of(sig, 0);
    for (int i = 0; i < OFTEN; i++) {
        raise(sig);
        lost += sigtimedwait(&set, NULL, &(struct timespec){0, 0}) != sig;
    }
    return lost;
}

/* With everything blocked there is nothing but what was sent. That nothing comes by itself can only be seen by giving it time: the client's
 * own signals, if the program saw any, would be many in a tenth of a second. */
static void wait_for_all(void) {
    sigset_t all, none, pending;
    siginfo_t info;
    sigfillset(&all);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &all, NULL);
    burn(0.1);
    sigpending(&pending);
    printf("pending: %d\n", !sigisemptyset(&pending));
    int got = sigtimedwait(&all, &info, &(struct timespec){0, 0});
    printf("waited: %d %d\n", got, got < 0 && errno == EAGAIN);
    int fd = signalfd(-1, &all, SFD_NONBLOCK);
    struct signalfd_siginfo by_fd;
    burn(0.1);
    printf("read: %d\n", (int)read(fd, &by_fd, sizeof(by_fd)));
    raise(SIGUSR1);
    printf("read: %d", (int)read(fd, &by_fd, sizeof(by_fd)));
    printf(" %d\n", (int)by_fd.ssi_signo);
    close(fd);
    static const int sent[] = {SIGUSR2, SIGSEGV, SIGTRAP, SIGSTKFLT};
    for (int i = 0; i < 4; i++) {
        raise(sent[i]);
        sigpending(&pending);
        printf("pending %d", sigismember(&pending, sent[i]));
        got = sigtimedwait(&all, &info, &(struct timespec){0, 0});
        printf(", waited for %d %d", got, info.si_signo);
        sigpending(&pending);
        printf(", pending %d\n", sigismember(&pending, sent[i]));
    }
    printf("%d of %d were lost\n", count_lost(SIGSTKFLT), OFTEN);
    int ends[2], here = proc_directory();
    pipe(ends);
    pid_t me = getpid(), child = fork();
    if (!child) {
        for (int i = 0; i < 4; i++) {
            wait_for_turn(ends[0], here);
            kill(me, sent[i]);
        }
        wait_for_turn(ends[0], here);
        _exit(0);
    }
    for (int i = 0; i < 4; i++) {
        write(ends[1], "x", 1);
        got = sigtimedwait(&all, &info, &(struct timespec){LONG_SECONDS, 0});
        printf("sent %d: %d, by the child %d\n", got, info.si_code == SI_USER, info.si_pid == child);
    }
    write(ends[1], "x", 1);
    got = sigtimedwait(&all, &info, &(struct timespec){LONG_SECONDS, 0});
    printf("%d\n", got);
    waitpid(child, NULL, 0);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* ----------------------------------------------------------------------------------------------------------------- exec */

static void show_inherited(void) {
    static const int asked[] = {SIGSEGV, SIGBUS, SIGTRAP, SIGUSR1, SIGSTKFLT, SIGFPE};
    sigset_t mask, pending;
    sigprocmask(SIG_SETMASK, NULL, &mask);
    sigpending(&pending);
    for (int i = 0; i < 6; i++) {
        struct sigaction action;
        sigaction(asked[i], NULL, &action);
        printf("%d: ignored %d, blocked %d, pending %d\n", asked[i], action.sa_handler == SIG_IGN,
               sigismember(&mask, asked[i]), sigismember(&pending, asked[i]));
    }
    signal(SIGSEGV, note);
    raise(SIGSEGV);
    report("after exec", 0);
}

static void exec_self(char *path) {
    fflush(stdout);
    if (!fork()) {
        signal(SIGSEGV, SIG_IGN);
        signal(SIGUSR1, SIG_IGN);
        signal(SIGSTKFLT, SIG_IGN);
        signal(SIGTRAP, note);
        block(SIG_BLOCK, SIGBUS, SIGSTKFLT);
        raise(SIGBUS);
        raise(SIGSEGV);
        execl("/nonexistent", "x", NULL);
        raise(SIGSEGV);
        execl(path, path, "inherited", NULL);
        _exit(1);
    }
    int status;
    wait(&status);
    printf("ended by %d\n", status);
}

int main(int argc, char **argv) {
    static const int handled[] = {SIGUSR1, SIGUSR2, SIGSEGV, SIGBUS, SIGTRAP};
    setvbuf(stdout, NULL, _IONBF, 0);
    if (argc > 1) {
        show_inherited();
        return 0;
    }
    wait_for_all();
    exec_self("/proc/self/exe");
    for (int i = 0; i < 5; i++)
        signal(handled[i], note);
    suspend("sigsuspend", by_sigsuspend);
    suspend("ppoll", by_ppoll);
    suspend("pselect", by_pselect);
    suspend("epoll_pwait", by_epoll_pwait);
    for (int i = 0; i < 5; i++) {
        suspend_longer("sigsuspend", by_sigsuspend, handled[i]);
        suspend_longer("ppoll", by_ppoll, handled[i]);
        suspend_longer("pselect", by_pselect, handled[i]);
        suspend_longer("epoll_pwait", by_epoll_pwait, handled[i]);
    }
    return 0;
}
