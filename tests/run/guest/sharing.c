/* sharing.c: processes that share memory and run beside each other (clone with CLONE_VM alone), with handlers of their own or shared
 * ones; they end, are killed, or exec. clone3 makes threads and processes, too. */
#include <errno.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STACK = 64 << 10, TURNS = 200000 };

static char stack[STACK] __attribute__((aligned(16))), altstack[STACK];
static _Atomic int counter, ready, go, handled_here, handled_there;

static int count(void *arg) {
    ready = 1;
    for (int i = 0; i < TURNS; i++)
        counter++;
    return *(int *)arg;
}

static int status_of(pid_t pid) {
    int status = -1;
    waitpid(pid, &status, __WALL);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static void beside(void) {
    int code = 7;
    pid_t pid = clone(count, stack + STACK, CLONE_VM | SIGCHLD, &code);
    while (!ready)
        ;
    for (int i = 0; i < TURNS; i++)
        counter++;
    int status = status_of(pid);
    printf("beside: status %d, counter %d\n", status, counter);
}

static void here(int sig) {
    (void)sig;
    handled_here++;
}

static void there(int sig) {
    (void)sig;
    handled_there++;
}

static int set_handler(void *arg) {
    (void)arg;
    stack_t now;
    sigaltstack(NULL, &now);
    signal(SIGUSR1, there);
    raise(SIGUSR1);
    return now.ss_flags == SS_DISABLE;
}

/* A process of its own has no alternate stack; its handlers are its own but with CLONE_SIGHAND. */
static void handlers(void) {
    stack_t on = {.ss_sp = altstack, .ss_size = sizeof(altstack)};
    sigaltstack(&on, NULL);
    for (int shared = 0; shared < 2; shared++) {
        signal(SIGUSR1, here);
        int disabled =
            status_of(clone(set_handler, stack + STACK, CLONE_VM | (shared ? CLONE_SIGHAND : 0) | SIGCHLD, NULL));
        raise(SIGUSR1);
        printf("handlers: here %d, there %d, no stack %d\n", handled_here, handled_there, disabled);
    }
}

static int become(void *arg) {
    execl("/bin/sh", "sh", "-c", arg, NULL);
    return 1;
}

static int wait_for_ever(void *arg) {
    (void)arg;
    ready = 2;
    for (;;)
        pause();
}

static void ends(void) {
    printf("exec: %d\n", status_of(clone(become, stack + STACK, CLONE_VM | SIGCHLD, "exit 5")));
    pid_t pid = clone(wait_for_ever, stack + STACK, CLONE_VM | CLONE_FILES | SIGCHLD, NULL);
    while (ready != 2)
        ;
    kill(pid, SIGTERM);
    printf("killed: %d\n", status_of(pid));
    int total = 0, code = 1;
    for (int i = 0; i < 300; i++)
        total += status_of(clone(set_handler, stack + STACK, CLONE_VM | SIGCHLD, &code));
    printf("many: %d\n", total);
}

/* The child has a stack of its own, and no way back. */
static long clone3(struct clone_args *a) {
    long result;
    __asm__ volatile(
        "syscall\n test %%eax, %%eax\n jnz 1f\n incl %2\n mov %3, %%eax\n mov $3, %%edi\n syscall\n hlt\n 1:"
        : "=a"(result), "+m"(*a)
        : "m"(counter), "i"(SYS_exit), "a"(SYS_clone3), "D"(a), "S"(sizeof(*a))
        : "rcx", "r11", "memory");
    return result;
}

static void by_clone3(void) {
    counter = 0;
    struct clone_args a = {.flags = CLONE_VM, .exit_signal = SIGCHLD, .stack = (uintptr_t)stack, .stack_size = STACK};
    printf("clone3: process %d, ", status_of((pid_t)clone3(&a)));
    volatile int tid = 1;
    a.flags =
        CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_CHILD_CLEARTID | CLONE_PARENT_SETTID;
    a.exit_signal = 0;
    a.child_tid = a.parent_tid = (uintptr_t)&tid;
    int started = clone3(&a) > 0;
    while (tid)
        ;
    a.exit_signal = 0x1000;
    int errors = clone3(&a) == -EINVAL;
    printf("thread %d, counter %d, errors %d\n", started, counter, errors);
}

int main(void) {
    setvbuf(stdout, NULL, _IONBF, 0);
    beside();
    handlers();
    ends();
    by_clone3();
    return 0;
}
