/* sentfaults.c: signals of faults that somebody sends: blocked, several at once, and system calls that they interrupt. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "await.h"

static const int sent[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGUSR1, SIGUSR2};
enum { SENT = sizeof(sent) / sizeof(*sent), ROUNDS = 10 };

static volatile sig_atomic_t *count; /* by signal; the child sees them, too */

static void handle(int sig) {
    count[sig]++;
}

static void block(int sig) {
    sigset_t set, pending;
    sigemptyset(&set);
    sigaddset(&set, sig);
    count[sig] = 0;
    sigprocmask(SIG_BLOCK, &set, NULL);
    raise(sig);
    sigpending(&pending);
    printf("%d blocked: %d, pending %d", sig, (int)count[sig], sigismember(&pending, sig));
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    printf(", then %d\n", (int)count[sig]);
}

static void interrupt(int sig) {
    struct sigaction action = {.sa_handler = handle};
    int ends[2], here = proc_directory();
    char byte;
    pid_t me = getpid();
    sigaction(sig, &action, NULL);
    count[sig] = 0;
    if (pipe(ends) || write(ends[1], "x", 1) != 1 || read(ends[0], &byte, 1) != 1)
        return;
    pid_t child = fork();
    if (!child) {
        await_sleep(here);
        kill(me, sig);
        while (!count[sig] && getppid() == me)
            usleep(1000);
        write(ends[1], "x", 1);
        _exit(0);
    }
    ssize_t n = read(ends[0], &byte, 1);
    printf("%d interrupts: %d\n", sig, n < 0 && errno == EINTR);
    waitpid(child, NULL, 0);
    close(here);
}

static int all_received(int times) {
    for (int i = 0; i < SENT; i++)
        if (count[sent[i]] < times)
            return 0;
    return 1;
}

/* All of them while that process is stopped, so that they come together. */
static void send_all(pid_t to, int directory) {
    for (int round = 0; round < ROUNDS; round++) {
        kill(to, SIGSTOP);
        await_state(directory, 'T');
        for (int i = 0; i < SENT; i++)
            kill(to, sent[i]);
        kill(to, SIGCONT);
        while (!all_received(round + 1) && getppid() == to)
            usleep(1000);
    }
    kill(to, SIGTERM);
    _exit(0);
}

static void receive_all(void) {
    pid_t me = getpid();
    int here = proc_directory();
    signal(SIGTERM, handle);
    for (int i = 0; i < SENT; i++) {
        signal(sent[i], handle);
        count[sent[i]] = 0;
    }
    if (!fork())
        send_all(me, here);
    for (volatile unsigned long n = 0; !count[SIGTERM] && n < 20000000000ul; n++)
        ;
    for (int i = 0; i < SENT; i++)
        printf("%d received: %d\n", sent[i], count[sent[i]] == ROUNDS);
}

int main(void) {
    setvbuf(stdout, NULL, _IONBF, 0);
    count = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < SENT; i++) {
        signal(sent[i], handle);
        block(sent[i]);
    }
    interrupt(SIGTRAP);
    interrupt(SIGUSR1);
    receive_all();
    return 0;
}
