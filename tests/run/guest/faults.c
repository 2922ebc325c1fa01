/* faults.c: memory that faults, with a handler that goes on elsewhere. */
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>

static sigjmp_buf back;
static volatile int code;
static void *volatile address;

static void leave(int sig, siginfo_t *info, void *context) {
    code = info->si_code;
    address = info->si_addr;
    (void)context;
    siglongjmp(back, sig);
}

static volatile int got;
static volatile int *volatile nowhere = (int *)16;
static char *volatile read_only;
static char *volatile page;

static void load(void) {
    got = *nowhere;
}
static void store(void) {
    *read_only = 1;
}
static void jump(void) {
    void (*volatile f)(void) = (void (*)(void))(uintptr_t)nowhere;
    f();
}
static void execute(void) {
    ((void (*)(void))(uintptr_t)page)();
}

__attribute__((noinline)) static int overflow(int n) {
    volatile char frame[4096];
    frame[n & 4095] = (char)n;
    return n < 0 ? 0 : overflow(n + 1) + frame[n & 4095];
}
static void exhaust(void) {
    overflow(0);
}

static void attempt(const char *name, void (*f)(void), const void *where) {
    int sig = sigsetjmp(back, 1);
    if (sig == 0) {
        f();
        printf("%s: nothing\n", name);
    } else {
        printf("%s: signal %d code %d%s\n", name, sig, code, !where ? "" : address == where ? " there" : " elsewhere");
    }
}

int main(void) {
    struct sigaction action = {.sa_sigaction = leave, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    static char stack[64 << 10];
    sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof(stack)}, NULL);
    setrlimit(RLIMIT_STACK, &(struct rlimit){1 << 20, 1 << 20});
    for (const int *sig = (int[]){SIGSEGV, SIGBUS, 0}; *sig; sig++)
        sigaction(*sig, &action, NULL);
    read_only = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *page = (char)0xc3;
    for (int i = 0; i < 3; i++) {
        attempt("load", load, (void *)16);
        attempt("store", store, read_only);
        attempt("jump", jump, (void *)16);
        attempt("execute", execute, page);
        attempt("overflow", exhaust, NULL);
    }
    return 0;
}
