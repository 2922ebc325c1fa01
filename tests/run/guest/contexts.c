/* contexts.c: what handlers are told, what they find in the context, and what they may change in it; SA_* flags and stacks. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#ifndef SS_AUTODISARM
#define SS_AUTODISARM (1u << 31)
#endif

static volatile sig_atomic_t depth, deepest, count;
static siginfo_t last;
static char other_stack[64 << 10] __attribute__((aligned(16)));

static void install(int sig, void (*f)(int, siginfo_t *, void *), int flags) {
    struct sigaction action = {.sa_sigaction = f, .sa_flags = SA_SIGINFO | flags};
    sigaction(sig, &action, NULL);
}

/* ------------------------------------------------------------------------------------------------------------- siginfo */

static void keep(int sig, siginfo_t *info, void *context) {
    (void)sig, (void)context;
    last = *info;
    count++;
}

static void *kill_main(void *arg) {
    syscall(SYS_tgkill, getpid(), (pid_t)(long)arg, SIGUSR1);
    return NULL;
}

static void wait_for(int n) {
    while (count < n)
        usleep(1000);
}

static void informed(void) {
    install(SIGUSR1, keep, 0);
    install(SIGRTMIN + 2, keep, 0);
    kill(getpid(), SIGUSR1);
    printf("kill: %d %d, mine %d\n", last.si_signo, last.si_code, last.si_pid == getpid() && last.si_uid == getuid());
    raise(SIGUSR1);
    printf("raise: %d %d\n", last.si_code, last.si_pid == getpid());
    sigqueue(getpid(), SIGRTMIN + 2, (union sigval){.sival_ptr = &count});
    printf("sigqueue: %d, value %d\n", last.si_code, last.si_value.sival_ptr == (void *)&count);
    siginfo_t own;
    memset(&own, 0, sizeof(own));
    own.si_code = -77;
    own.si_value.sival_ptr = (void *)0x123456789abcdef0;
    syscall(SYS_rt_sigqueueinfo, getpid(), SIGUSR1, &own);
    printf("rt_sigqueueinfo: %d, %lx\n", last.si_code, (long)last.si_value.sival_ptr);
    pthread_t id;
    count = 0;
    pthread_create(&id, NULL, kill_main, (void *)(long)gettid());
    pthread_join(id, NULL);
    wait_for(1);
    printf("tgkill by another thread: %d\n", last.si_code);
    struct sigevent event = {
        .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGRTMIN + 2, .sigev_value.sival_int = 4711};
    event._sigev_un._tid = gettid();
    timer_t timer;
    struct itimerspec often = {{0, 3000000}, {0, 3000000}};
    count = 0;
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    timer_settime(timer, 0, &often, NULL);
    wait_for(5);
    timer_delete(timer);
    printf("timer: %d, value %d, overrun %d\n", last.si_code, last.si_value.sival_int, last.si_overrun >= 0);
}

/* ------------------------------------------------------------------------------------------------------------ the flags */

static void again(int sig, siginfo_t *info, void *context) {
    (void)info, (void)context;
    depth++;
    if (depth > deepest)
        deepest = depth;
    if (deepest < 5 && count++ < 8)
        raise(sig);
    depth--;
}

static void flags(void) {
    deepest = count = 0;
    install(SIGUSR2, again, 0);
    raise(SIGUSR2);
    printf("deferred: %d deep\n", (int)deepest);
    deepest = count = 0;
    install(SIGUSR2, again, SA_NODEFER);
    raise(SIGUSR2);
    printf("SA_NODEFER: %d deep\n", (int)deepest);
    install(SIGCHLD, keep, SA_RESETHAND);
    count = 0;
    raise(SIGCHLD);
    raise(SIGCHLD);
    struct sigaction now;
    sigaction(SIGCHLD, NULL, &now);
    printf("SA_RESETHAND: %d, default %d, flags %x\n", (int)count, now.sa_handler == SIG_DFL,
           now.sa_flags & ~0x04000000);
    struct {
        void *handler;
        unsigned long flags;
        void *restorer;
        unsigned long mask;
    } odd = {keep, 0x70000000ul | SA_SIGINFO | SA_RESTART | 0x04000000, 0, ~0ul}, back;
    syscall(SYS_rt_sigaction, SIGWINCH, &odd, NULL, 8);
    syscall(SYS_rt_sigaction, SIGWINCH, NULL, &back, 8);
    printf("as kept: %lx %lx\n", back.flags, back.mask);
    signal(SIGWINCH, SIG_DFL);
}

/* --------------------------------------------------------------------------------------------------------------- stacks */

static volatile int inside, nested_inside;
static stack_t seen;

static int is_inside(void) {
    char here;
    return &here >= other_stack && &here < other_stack + sizeof(other_stack);
}

static void on_nested(int sig, siginfo_t *info, void *context) {
    (void)sig, (void)info, (void)context;
    nested_inside = is_inside();
}

static void on_stack(int sig, siginfo_t *info, void *context) {
    (void)sig, (void)info;
    inside = is_inside();
    sigaltstack(NULL, &seen);
    printf("  inside: %d, flags %x, size %d, in the context %x %d", inside, seen.ss_flags, (int)seen.ss_size,
           ((ucontext_t *)context)->uc_stack.ss_flags, (int)((ucontext_t *)context)->uc_stack.ss_size);
    stack_t set = {.ss_sp = other_stack, .ss_size = 32 << 10};
    int result = sigaltstack(&set, NULL);
    printf(", set %d %s", result, result ? strerrorname_np(errno) : "-");
    raise(SIGUSR2);
    printf(", nested %d\n", nested_inside);
}

static void show_stack(const char *when) {
    stack_t now;
    sigaltstack(NULL, &now);
    printf("%s: %x %d %d\n", when, now.ss_flags, now.ss_sp == other_stack, (int)now.ss_size);
}

static void stacks(void) {
    static const unsigned modes[] = {0, SS_ONSTACK, SS_AUTODISARM, SS_AUTODISARM | SS_ONSTACK, SS_DISABLE, 64};
    for (int i = 0; i < 6; i++) {
        stack_t set = {.ss_sp = other_stack, .ss_size = sizeof(other_stack), .ss_flags = (int)modes[i]};
        int result = sigaltstack(&set, NULL);
        printf("mode %x: %d %s\n", modes[i], result, result ? strerrorname_np(errno) : "-");
        show_stack("before");
        for (int on = 0; on < 2; on++) {
            install(SIGUSR1, on_stack, on ? SA_ONSTACK : 0);
            install(SIGUSR2, on_nested, SA_ONSTACK);
            raise(SIGUSR1);
            show_stack(on ? "after, SA_ONSTACK" : "after");
        }
    }
    stack_t small = {.ss_sp = other_stack, .ss_size = 2047};
    int result = sigaltstack(&small, NULL);
    printf("small: %d %s\n", result, result ? strerrorname_np(errno) : "-");
    sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, NULL);
}

/* ------------------------------------------------------------------------------------------------------------ registers */

typedef struct Fx {
    uint16_t cw, sw;
    uint8_t tag, reserved;
    uint16_t opcode;
    uint64_t ip, dp;
    uint32_t mxcsr, mask;
    uint8_t st[8][16], xmm[16][16];
} Fx;

/* Sees what the code below has in its registers, and leaves other values. */
static void change(int sig, siginfo_t *info, void *context) {
    (void)sig, (void)info;
    ucontext_t *u = context;
    Fx *fx = (Fx *)u->uc_mcontext.fpregs;
    greg_t *g = u->uc_mcontext.gregs;
    uint64_t low, high;
    memcpy(&low, fx->xmm[7], 8);
    memcpy(&high, fx->xmm[15] + 8, 8);
    printf("found: %llx %llx %llx, flags %llx, vectors %lx %lx, mxcsr %x, cw %x, top of x87 %x\n",
           (long long)g[REG_RBX], (long long)g[REG_R12], (long long)g[REG_R15], (long long)g[REG_EFL] & 0xcd5, low,
           high, fx->mxcsr, fx->cw, fx->sw >> 11 & 7);
    g[REG_RBX] = 0x1111111111111111;
    g[REG_R12] = 0x2222222222222222;
    g[REG_R15] = 0x3333333333333333;
    g[REG_EFL] = (g[REG_EFL] & ~0xcd5) | 0x881;
    low = 0x4444444444444444, high = 0x5555555555555555;
    memcpy(fx->xmm[7], &low, 8);
    memcpy(fx->xmm[15] + 8, &high, 8);
    fx->mxcsr = 0x5f80;
    fx->cw = 0x27f;
    long double e = 2.5L;
    memcpy(fx->st[0], &e, 10);
    static const double clobber = 3.5; /* and what the handler does itself is gone again */
    __asm__ volatile("movsd %0, %%xmm7\n movsd %0, %%xmm15\n fldl %0\n fstp %%st(0)"
                     :
                     : "m"(clobber)
                     : "xmm7", "xmm15");
}

typedef struct State {
    uint64_t rbx, r12, r15, flags, low, high;
    uint32_t mxcsr;
    uint16_t cw;
    double st0;
} State;

/* By tkill(self, SIGUSR1) in the middle of all these values. */
static void registers(void) {
    State s = {0};
    uint64_t v[2] = {0x0123456789abcdef, 0xfedcba9876543210};
    uint32_t mxcsr = 0x3f80, mxcsr_default = 0x1f80;
    uint16_t cw = 0x37f;
    long tid = gettid();
    install(SIGUSR1, change, 0);
    fflush(stdout);
    __asm__ volatile(
        "ldmxcsr %[mxcsr]\n fninit\n fldcw %[cw]\n fldpi\n"
        "movups %[v], %%xmm7\n movups %[v], %%xmm15\n"
        "mov $0xaaaa, %%ebx\n mov $0xbbbb, %%r12d\n mov $0xcccc, %%r15d\n"
        "mov $200, %%eax\n mov %[tid], %%rdi\n mov $10, %%esi\n"
        "push $0x44\n popfq\n"
        "syscall\n"
        "pushfq\n popq %%rdx\n"
        "mov %%rbx, %[rbx]\n mov %%r12, %[r12]\n mov %%r15, %[r15]\n mov %%rdx, %[flags]\n"
        "movq %%xmm7, %[low]\n movhps %%xmm15, %[high]\n stmxcsr %[out_mxcsr]\n fnstcw %[out_cw]\n fstpl %[st0]\n"
        "ldmxcsr %[mxcsr_default]\n fninit\n"
        : [rbx] "=m"(s.rbx), [r12] "=m"(s.r12), [r15] "=m"(s.r15), [flags] "=m"(s.flags), [low] "=m"(s.low),
          [high] "=m"(s.high), [out_mxcsr] "=m"(s.mxcsr), [out_cw] "=m"(s.cw), [st0] "=m"(s.st0)
        : [mxcsr] "m"(mxcsr), [mxcsr_default] "m"(mxcsr_default), [cw] "m"(cw), [v] "m"(v), [tid] "r"(tid)
        : "rax", "rbx", "rcx", "rdx", "rdi", "rsi", "r11", "r12", "r15", "xmm7", "xmm15", "memory", "cc");
    printf("left: %lx %lx %lx, flags %lx, vectors %lx %lx, mxcsr %x, cw %x, %g\n", s.rbx, s.r12, s.r15, s.flags & 0xcd5,
           s.low, s.high, s.mxcsr, s.cw, s.st0);
}

/* ------------------------------------------------------------------------------------------------------------ elsewhere */

static char far_stack[64 << 10] __attribute__((aligned(16)));
static ucontext_t home;

static void land(void) {
    char here;
    printf("landed on the other stack: %d\n", &here >= far_stack && &here < far_stack + sizeof(far_stack));
    setcontext(&home);
}

/* The context leads to another function on another stack. */
static void send_away(int sig, siginfo_t *info, void *context) {
    (void)sig, (void)info;
    ucontext_t *u = context;
    u->uc_mcontext.gregs[REG_RIP] = (greg_t)land;
    u->uc_mcontext.gregs[REG_RSP] = (greg_t)(far_stack + sizeof(far_stack) - 8);
    sigaddset(&u->uc_sigmask, SIGUSR2);
}

static void elsewhere(void) {
    volatile int back = 0;
    sigset_t mask;
    install(SIGUSR1, send_away, 0);
    getcontext(&home);
    if (!back++)
        raise(SIGUSR1);
    sigprocmask(SIG_SETMASK, NULL, &mask);
    printf("back, blocked by the handler's context: %d\n", sigismember(&mask, SIGUSR2));
}

int main(void) {
    setvbuf(stdout, NULL, _IONBF, 0);
    informed();
    flags();
    stacks();
    registers();
    elsewhere();
    return 0;
}
