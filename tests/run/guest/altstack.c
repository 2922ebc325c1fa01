/* altstack.c: handlers on a stack of their own, left by return and by siglongjmp. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static char *stack;
static size_t stack_size = 64 << 10;
static volatile sig_atomic_t on_it, status_inside;
static sigjmp_buf back;

static void look(int sig) {
    char here;
    stack_t now;
    on_it = &here >= stack && &here < stack + stack_size;
    sigaltstack(NULL, &now);
    status_inside = now.ss_flags;
    (void)sig;
}

static void leave(int sig) {
    look(sig);
    siglongjmp(back, sig);
}

static void install(int sig, void (*f)(int)) {
    struct sigaction action = {.sa_handler = f, .sa_flags = SA_ONSTACK};
    sigaction(sig, &action, NULL);
}

int main(void) {
    stack = malloc(stack_size);
    stack_t set = {.ss_sp = stack, .ss_size = stack_size}, now;
    printf("%d", sigaltstack(&set, NULL));
    sigaltstack(NULL, &now);
    printf(" %d %d\n", now.ss_sp == stack, now.ss_size == stack_size);
    install(SIGUSR1, look);
    raise(SIGUSR1);
    printf("on it: %d, SS_ONSTACK: %d\n", on_it, status_inside == SS_ONSTACK);
    install(SIGUSR2, leave);
    for (int i = 0; i < 1000; i++)
        if (sigsetjmp(back, 1) == 0)
            raise(SIGUSR2);
    sigaltstack(NULL, &now);
    printf("left: %d\n", now.ss_flags);
    return 0;
}
