/* traps.c: instructions that trap whatever memory holds, with a handler that goes on elsewhere. */
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>

static sigjmp_buf back;
static volatile int code;

static void leave(int sig, siginfo_t *info, void *context) {
    code = info->si_code;
    (void)context;
    siglongjmp(back, sig);
}

static volatile int zero;
static volatile long least = INT64_MIN, minus_one = -1;

static void divide(void) {
    zero = 5 / zero;
}
static void divide_overflow(void) {
    least = least / minus_one;
}
static void undefined(void) {
    __builtin_trap();
}
static void privileged(void) {
    __asm__ volatile("hlt");
}
static void breakpoint(void) {
    __asm__ volatile("int3");
}

static void attempt(const char *name, void (*f)(void)) {
    int sig = sigsetjmp(back, 1);
    if (sig == 0) {
        f();
        printf("%s: nothing\n", name);
    } else {
        printf("%s: signal %d code %d\n", name, sig, code);
    }
}

int main(void) {
    struct sigaction action = {.sa_sigaction = leave, .sa_flags = SA_SIGINFO};
    for (const int *sig = (int[]){SIGFPE, SIGILL, SIGSEGV, SIGTRAP, 0}; *sig; sig++)
        sigaction(*sig, &action, NULL);
    for (int i = 0; i < 3; i++) {
        attempt("divide", divide);
        attempt("overflow", divide_overflow);
        attempt("undefined", undefined);
        attempt("privileged", privileged);
        attempt("breakpoint", breakpoint);
    }
    return 0;
}
