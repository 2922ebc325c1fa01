/* tracer.c: a process beside its program, in the same memory, stops the program's threads and looks at their registers, as leak checkers do
 * it: one in a loop, one in a system call, one that makes new code run. A child that is traced in the ordinary way. */
#include <elf.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STACK = 256 << 10, ROUNDS = 20, LOOPING = 0x1234567, SLEEPING = 0x7654321 };

void loop_start(void), loop_end(void), sleep_start(void), sleep_end(void);

/* Each has a value of its own in a register that calls preserve. */
__asm__(".text\n"
        "looping:\n"
        "  push %r12\n"
        "  mov $0x1234567, %r12d\n"
        "  movl $1, in_loop(%rip)\n"
        "loop_start:\n"
        "  mov stop(%rip), %eax\n"
        "  test %eax, %eax\n"
        "  jz loop_start\n"
        "loop_end:\n"
        "  pop %r12\n"
        "  ret\n"
        "sleeping:\n"
        "  push %r12\n"
        "  mov $0x7654321, %r12d\n"
        "  movl $1, in_sleep(%rip)\n"
        "sleep_start:\n"
        "  mov $34, %eax\n" /* pause */
        "  syscall\n"
        "  mov stop(%rip), %eax\n"
        "  test %eax, %eax\n"
        "  jz sleep_start\n"
        "sleep_end:\n"
        "  pop %r12\n"
        "  ret\n");

void looping(void), sleeping(void);
volatile int stop, in_loop, in_sleep;
static char stack[STACK] __attribute__((aligned(16)));
static volatile pid_t tids[3];
static volatile int left_sleep;
static int wrong, seen;

static void *run_looping(void *arg) {
    tids[0] = (pid_t)syscall(SYS_gettid);
    looping();
    return arg;
}

static void *run_sleeping(void *arg) {
    tids[1] = (pid_t)syscall(SYS_gettid);
    sleeping();
    left_sleep = 1;
    return arg;
}

/* Library functions by the dozen, and memory: what needs the client's locks. */
static void *run_busily(void *arg) {
    tids[2] = (pid_t)syscall(SYS_gettid);
    for (int i = 0; !stop; i++) {
        char text[64], *copy;
        snprintf(text, sizeof(text), "%d %f %s", i, i / 3.0, strerror(i % 100));
        copy = malloc(200000 + (size_t)i % 1000);
        strcpy(copy, text);
        free(copy);
    }
    return arg;
}

static void check(pid_t tid, unsigned long value, void (*start)(void), void (*end)(void)) {
    struct user_regs_struct r;
    struct iovec v = {&r, sizeof(r)};
    long error =
        seen % 2 ? ptrace(PTRACE_GETREGS, tid, NULL, &r) : ptrace(PTRACE_GETREGSET, tid, (void *)NT_PRSTATUS, &v);
    if (error || r.r12 != value || r.rip < (unsigned long)start || r.rip > (unsigned long)end)
        wrong++;
    seen++;
}

static int trace(void *arg) {
    (void)arg;
    for (int i = 0; i < ROUNDS; i++) {
        for (int k = 0; k < 3; k++) {
            int status;
            if (ptrace(PTRACE_ATTACH, tids[k], NULL, NULL) || waitpid(tids[k], &status, __WALL) != tids[k] ||
                !WIFSTOPPED(status) || WSTOPSIG(status) != SIGSTOP)
                return 100 + k;
        }
        check(tids[0], LOOPING, loop_start, loop_end);
        check(tids[1], SLEEPING, sleep_start, sleep_end);
        for (int k = 0; k < 3; k++)
            ptrace(PTRACE_DETACH, tids[k], NULL, NULL);
    }
    return 0;
}

static void nothing(int sig) {
    (void)sig;
}

static void beside(void) {
    pthread_t threads[3];
    void *(*const work[])(void *) = {run_looping, run_sleeping, run_busily};
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, work[i], NULL);
    while (!in_loop || !in_sleep || !tids[2])
        sched_yield();
    pid_t tracer = clone(trace, stack + STACK, CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_UNTRACED, NULL);
    prctl(PR_SET_PTRACER, tracer, 0, 0, 0);
    int status = -1;
    waitpid(tracer, &status, __WALL);
    printf("beside: status %x, seen %d, wrong %d\n", status, seen, wrong);
    stop = 1;
    signal(SIGUSR2, nothing);
    while (!left_sleep) { /* one that comes just before the thread makes its call again does not end that call */
        pthread_kill(threads[1], SIGUSR2);
        usleep(1000);
    }
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
}

static void child(void) {
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
            _exit(1);
        raise(SIGSTOP);
        raise(SIGUSR1);
        _exit(7);
    }
    waitpid(pid, &status, 0);
    printf("child: stopped %d by %d\n", WIFSTOPPED(status), WSTOPSIG(status));
    long word = ptrace(PTRACE_PEEKDATA, pid, &stop, NULL);
    ptrace(PTRACE_CONT, pid, NULL, NULL);
    waitpid(pid, &status, 0);
    printf("child: word %ld, stopped %d by %d\n", word & 0xff, WIFSTOPPED(status), WSTOPSIG(status));
    ptrace(PTRACE_CONT, pid, NULL, NULL);
    waitpid(pid, &status, 0);
    printf("child: status %x\n", status);
    long result = ptrace(PTRACE_CONT, pid, NULL, NULL);
    printf("nobody: %ld, %s\n", result, strerror(errno));
}

int main(void) {
    beside();
    child();
    return 0;
}
