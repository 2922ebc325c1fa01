/* masks.c: a signal that a change of the mask lets through finds the new mask, and leaves it, for signals of faults, too. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

static volatile sig_atomic_t count;
static sigset_t inside;

static void handle(int sig) {
    (void)sig;
    count++;
    sigprocmask(SIG_BLOCK, NULL, &inside);
}

static void show(const char *when, const sigset_t *set) {
    printf("%s:", when);
    for (int sig = 1; sig < 32; sig++)
        if (sigismember(set, sig) == 1)
            printf(" %d", sig);
    printf("\n");
}

static void let_through(int how, const sigset_t *change) {
    sigset_t blocked, now;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    sigaddset(&blocked, SIGSEGV);
    sigaddset(&blocked, SIGFPE);
    sigprocmask(SIG_SETMASK, &blocked, NULL);
    count = 0;
    raise(SIGUSR1);
    printf("blocked: %d\n", (int)count);
    sigprocmask(how, change, &now);
    show("was", &now);
    printf("let through: %d\n", (int)count);
    show("inside", &inside);
    sigprocmask(SIG_BLOCK, NULL, &now);
    show("now", &now);
}

int main(void) {
    sigset_t set;
    signal(SIGUSR1, handle);
    sigemptyset(&set);
    let_through(SIG_SETMASK, &set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGSEGV);
    let_through(SIG_UNBLOCK, &set);
    return 0;
}
