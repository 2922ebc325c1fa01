/* Instructions that end in a signal: divisions, and those that trap by intent. Handlers that leave them by siglongjmp(), and a child without one. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static sigjmp_buf place;

static void handle(int number, siginfo_t *info, void *context) {
    (void)context;
    printf("signal %d %d\n", number, info->si_code == FPE_INTDIV);
    siglongjmp(place, number);
}

__attribute__((noinline)) static int divide(int a, int b) {
    return a / b;
}

__attribute__((noinline)) static long modulo(long a, long b) {
    return a % b;
}

static void try(int what, int zero) {
    int number = sigsetjmp(place, 1);
    if (number) {
        printf("back %d\n", number);
        return;
    }
    if (what == 0)
        printf("%d\n", divide(7, zero));
    else if (what == 1)
        printf("%d\n", divide(-2147483647 - 1, zero - 1));
    else if (what == 2)
        printf("%ld\n", modulo(7, zero));
    else
        __builtin_trap();
}

static void die(int zero, int ignored) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        close(STDERR_FILENO); /* qemu has something to say */
        signal(SIGFPE, ignored ? SIG_IGN : SIG_DFL);
        _exit(divide(1, zero));
    }
    int status = 0;
    waitpid(child, &status, 0);
    printf("died of %d\n", WIFSIGNALED(status) ? WTERMSIG(status) : -1);
}

int main(int argc, char **argv) {
    (void)argv;
    struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO};
    sigaction(SIGFPE, &action, NULL);
    sigaction(SIGILL, &action, NULL);
    for (int round = 0; round < 2; round++)
        for (int what = 0; what < 4; what++)
            try(what, argc - 1);
    die(argc - 1, 0);
    die(argc - 1, 1);
    return 0;
}
