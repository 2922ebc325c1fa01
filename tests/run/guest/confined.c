/* confined.c: filters of system calls: every action, inheritance, exec, threads, what is refused, and arithmetic that the kernel checks. */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define FIELD(name) ((uint32_t)offsetof(struct seccomp_data, name))
#define LOAD(at) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, at)
#define RETURN(k) BPF_STMT(BPF_RET | BPF_K, k)
#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static char *self = "/proc/self/exe";
static char **environment;

static long install_with(unsigned flags, struct sock_filter *code, size_t count) {
    struct sock_fprog p = {(unsigned short)count, code};
    long result = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &p);
    return result < 0 ? -errno : result;
}

static long install(struct sock_filter *code, size_t count) {
    return install_with(0, code, count);
}

/* The call `number` has the answer, all others are allowed. */
static long answer_with(unsigned flags, int number, uint32_t answer) {
    struct sock_filter code[] = {LOAD(FIELD(nr)), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)number, 0, 1),
                                 RETURN(answer), RETURN(SECCOMP_RET_ALLOW)};
    return install_with(flags, code, COUNT(code));
}

static void answer(int number, uint32_t value) {
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    long error = answer_with(0, number, value);
    if (error)
        printf("cannot install: %ld\n", error);
}

static long call(long number) {
    long result = syscall(number);
    return result < 0 ? -errno : result > 0;
}

/* In a process of its own. */
static void try(const char *name, void (*f)(void)) {
    int status;
    fflush(stdout);
    if (!fork()) {
        f();
        fflush(stdout);
        _exit(7);
    }
    wait(&status);
    printf("%s: %s %d\n", name, WIFEXITED(status) ? "status" : "signal",
           WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
}

/* ------------------------------------------------------------------------------------------------------------- actions */

static void errors(void) {
    answer(SYS_getppid, SECCOMP_RET_ERRNO | 99);
    printf("%ld %ld\n", call(SYS_getppid), call(SYS_getpid));
    answer(SYS_getuid, SECCOMP_RET_ERRNO | 5000);
    answer(SYS_getgid, SECCOMP_RET_ERRNO | 0);
    printf("%ld %ld\n", call(SYS_getuid), call(SYS_getgid));
}

static void kinds(void) {
    answer(SYS_getppid, SECCOMP_RET_TRACE | 3);
    answer(SYS_getuid, SECCOMP_RET_LOG);
    answer(SYS_getsid, SECCOMP_RET_USER_NOTIF);
    printf("%ld %d %ld\n", call(SYS_getppid), call(SYS_getuid) >= 0, call(SYS_getsid));
}

static void kills(void) {
    answer(SYS_getppid, SECCOMP_RET_KILL_PROCESS);
    call(SYS_getppid);
}

static void kills_last_thread(void) {
    answer(SYS_getppid, SECCOMP_RET_KILL_THREAD);
    call(SYS_getppid);
}

static void kills_by_unknown(void) {
    answer(SYS_getppid, 0x12340000);
    call(SYS_getppid);
}

static void strictest(void) {
    answer(SYS_getppid, SECCOMP_RET_ERRNO | 11);
    answer(SYS_getppid, SECCOMP_RET_ERRNO | 12);
    printf("%ld\n", call(SYS_getppid));
    answer(SYS_getppid, SECCOMP_RET_LOG);
    printf("%ld\n", call(SYS_getppid));
    answer(SYS_getppid, SECCOMP_RET_TRACE);
    printf("%ld\n", call(SYS_getppid));
    fflush(stdout);
    answer(SYS_getppid, SECCOMP_RET_TRAP);
    call(SYS_getppid);
}

static void strict(void) {
    char c;
    int ends[2];
    pipe(ends);
    printf("%d\n", prctl(PR_GET_SECCOMP));
    fflush(stdout);
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
    write(ends[1], "x", 1);
    read(ends[0], &c, 1);
    write(1, c == 'x' ? "strict\n" : "?\n", 7);
    syscall(SYS_exit, 9);
}

static void strict_killed(void) {
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
    call(SYS_getppid);
}

/* --------------------------------------------------------------------------------------------------------------- traps */

extern char trapped_behind[];

__attribute__((noinline, noclone)) static long trapped_call(long number, long first) {
    long result;
    __asm__ volatile("syscall\n.globl trapped_behind\ntrapped_behind:"
                     : "=a"(result)
                     : "a"(number), "D"(first)
                     : "rcx", "r11", "memory");
    return result;
}

static void on_trap(int sig, siginfo_t *info, void *context) {
    greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
    printf("signal %d code %d error %d call %d arch %x at %d pc %d rax %lld rdi %lld\n", sig, info->si_code,
           info->si_errno, info->si_syscall, info->si_arch, info->si_call_addr == (void *)trapped_behind,
           regs[REG_RIP] == (greg_t)trapped_behind, (long long)regs[REG_RAX], (long long)regs[REG_RDI]);
    regs[REG_RAX] = 4321;
}

static void set_trap_handler(void) {
    struct sigaction a = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};
    sigaction(SIGSYS, &a, NULL);
}

static void traps(void) {
    set_trap_handler();
    answer(SYS_getsid, SECCOMP_RET_TRAP | 77);
    printf("%ld\n", trapped_call(SYS_getsid, 55));
    printf("%ld\n", trapped_call(SYS_getsid, 56));
}

static void traps_blocked(void) {
    sigset_t set;
    set_trap_handler();
    sigemptyset(&set);
    sigaddset(&set, SIGSYS);
    sigprocmask(SIG_BLOCK, &set, NULL);
    answer(SYS_getsid, SECCOMP_RET_TRAP);
    trapped_call(SYS_getsid, 0);
}

static void traps_ignored(void) {
    signal(SIGSYS, SIG_IGN);
    answer(SYS_getsid, SECCOMP_RET_TRAP);
    trapped_call(SYS_getsid, 0);
}

/* ----------------------------------------------------------------------------------------------------- what a filter sees */

static void arguments(void) {
    struct sock_filter code[] = {LOAD(FIELD(nr)),           BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getsid, 0, 4),
                                 LOAD(FIELD(args[0]) + 4),  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x1234, 0, 2),
                                 LOAD(FIELD(args[5])),      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 66, 1, 0),
                                 RETURN(SECCOMP_RET_ALLOW), RETURN(SECCOMP_RET_ERRNO | 33)};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    printf("%ld\n", install(code, COUNT(code)));
    printf("%ld", syscall(SYS_getsid, 0x123400000000, 0, 0, 0, 0, 66));
    printf(" %d", errno);
    printf(" %d\n", syscall(SYS_getsid, 0, 0, 0, 0, 0, 66) > 0);
}

static void places(void) {
    struct sock_filter code[] = {LOAD(FIELD(arch)),
                                 BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 0, 3),
                                 LOAD(FIELD(instruction_pointer)),
                                 BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(uintptr_t)trapped_behind, 0, 1),
                                 RETURN(SECCOMP_RET_ERRNO | 44),
                                 RETURN(SECCOMP_RET_ALLOW)};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    printf("%ld\n", install(code, COUNT(code)));
    printf("%ld %d\n", trapped_call(SYS_getsid, 0), syscall(SYS_getsid, 0) > 0);
    answer(0x40000000 | SYS_getsid, SECCOMP_RET_ERRNO | 45);
    printf("%ld\n", call(0x40000000 | SYS_getsid));
    answer(9999, SECCOMP_RET_ERRNO | 46);
    printf("%ld %ld\n", call(9999), call(9998));
}

/* ---------------------------------------------------------------------------------------------------- threads, processes */

static int ready[2], go[2];

static void *sees(void *arg) {
    char c;
    write(ready[1], "r", 1);
    read(go[0], &c, 1);
    printf("the other: %ld nnp %d mode %d\n", call(SYS_getppid), prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0),
           prctl(PR_GET_SECCOMP));
    return arg;
}

static void run_beside(unsigned flags, uint32_t value) {
    pthread_t thread;
    char c;
    pipe(ready), pipe(go);
    pthread_create(&thread, NULL, sees, NULL);
    read(ready[0], &c, 1);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    printf("%ld\n", answer_with(flags, SYS_getppid, value));
    write(go[1], "g", 1);
    pthread_join(thread, NULL);
    printf("this one: %ld\n", call(SYS_getppid));
}

static void alone(void) {
    run_beside(0, SECCOMP_RET_ERRNO | 21);
}

static void synchronised(void) {
    run_beside(SECCOMP_FILTER_FLAG_TSYNC, SECCOMP_RET_ERRNO | 22);
}

static int stranger;

static void *differs(void *arg) {
    char c;
    answer(SYS_getuid, SECCOMP_RET_ERRNO | 1);
    stranger = gettid();
    write(ready[1], "r", 1);
    read(go[0], &c, 1);
    return arg;
}

static void not_synchronised(void) {
    pthread_t thread;
    char c;
    pipe(ready), pipe(go);
    pthread_create(&thread, NULL, differs, NULL);
    read(ready[0], &c, 1);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    printf("%d", answer_with(SECCOMP_FILTER_FLAG_TSYNC, SYS_getppid, SECCOMP_RET_ERRNO | 1) == stranger);
    printf(" %ld", answer_with(SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_TSYNC_ESRCH, SYS_getppid,
                               SECCOMP_RET_ERRNO | 1));
    printf(" %ld\n", call(SYS_getppid));
    write(go[1], "g", 1);
    pthread_join(thread, NULL);
}

static void *dies(void *arg) {
    write(ready[1], "r", 1);
    call(SYS_getppid);
    printf("still here\n");
    return arg;
}

static void kills_thread(void) {
    pthread_t thread;
    char c;
    pipe(ready);
    answer(SYS_getppid, SECCOMP_RET_KILL_THREAD);
    pthread_create(&thread, NULL, dies, NULL);
    read(ready[0], &c, 1);
    pthread_join(thread, NULL);
    printf("joined\n");
    for (int i = 0; i < 3; i++) {
        pthread_create(&thread, NULL, dies, NULL);
        pthread_join(thread, NULL);
    }
    printf("joined all\n");
}

static void *dies_with_all(void *arg) {
    call(SYS_getppid);
    return arg;
}

static void kills_all_threads(void) {
    pthread_t thread;
    answer(SYS_getppid, SECCOMP_RET_KILL_PROCESS);
    pthread_create(&thread, NULL, dies_with_all, NULL);
    pthread_join(thread, NULL);
    printf("still here\n");
}

static void inherited(void) {
    int status;
    answer(SYS_getppid, SECCOMP_RET_ERRNO | 61);
    fflush(stdout);
    if (!fork())
        _exit(call(SYS_getppid) == -61 ? 3 : 4);
    wait(&status);
    printf("fork %d\n", WEXITSTATUS(status));
    fflush(stdout);
    if (!vfork())
        _exit(call(SYS_getppid) == -61 ? 3 : 4);
    wait(&status);
    printf("vfork %d\n", WEXITSTATUS(status));
}

static void start_again(void) {
    pid_t child;
    int status;
    char *again[] = {self, "again", NULL};
    answer(SYS_getppid, SECCOMP_RET_ERRNO | 71);
    answer(SYS_getuid, SECCOMP_RET_ERRNO | 72);
    printf("spawn %d\n", posix_spawn(&child, self, NULL, NULL, again, environment));
    waitpid(child, &status, 0);
    printf("%d\n", WEXITSTATUS(status));
    fflush(stdout);
    char *missing[] = {"/nonexistent", NULL};
    execve(*missing, missing, environment);
    printf("%d\n", errno);
    fflush(stdout);
    execve(self, again, environment);
}

static void long_filters(void) {
    static struct sock_filter code[4000];
    char *again[] = {self, "again", NULL};
    for (size_t i = 0; i < COUNT(code); i++)
        code[i] = (struct sock_filter)LOAD(FIELD(nr));
    code[COUNT(code) - 1] = (struct sock_filter)RETURN(SECCOMP_RET_ALLOW);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    for (int i = 0; i < 4; i++)
        printf("%ld\n", install(code, COUNT(code)));
    answer(SYS_getppid, SECCOMP_RET_ERRNO | 71);
    fflush(stdout);
    execve(self, again, environment);
}

static void print_status(void) {
    char line[256];
    FILE *f = fopen("/proc/self/status", "r");
    while (fgets(line, sizeof(line), f))
        if (!strncmp(line, "Seccomp", 7) || !strncmp(line, "NoNewPrivs", 10) || !strncmp(line, "Threads", 7) ||
            !strncmp(line, "Name", 4))
            printf("%s", strncmp(line, "Name", 4) ? line : "Name\n");
    fclose(f);
    printf("mode %d\n", prctl(PR_GET_SECCOMP));
}

static void status_lines(void) {
    print_status();
    answer(SYS_getppid, SECCOMP_RET_ERRNO | 1);
    answer(SYS_getppid, SECCOMP_RET_ERRNO | 2);
    print_status();
}

/* ------------------------------------------------------------------------------------------------------- what is refused */

static void rights(void) {
    if (!geteuid())
        setresuid(65534, 65534, 65534);
    printf("%ld", answer_with(0, SYS_getppid, SECCOMP_RET_ALLOW));
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    printf(" %ld\n", answer_with(0, SYS_getppid, SECCOMP_RET_ALLOW));
}

static long raw(long operation, long flags, const void *args) {
    long result = syscall(SYS_seccomp, operation, flags, args);
    return result < 0 ? -errno : result;
}

static void operations(void) {
    uint32_t known[] = {SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_KILL_THREAD, SECCOMP_RET_TRAP,  SECCOMP_RET_ERRNO,
                        SECCOMP_RET_TRACE,        SECCOMP_RET_LOG,         SECCOMP_RET_ALLOW, 0x12340000};
    struct sock_fprog none = {0, NULL}, nowhere = {3, NULL}, bad = {3, (struct sock_filter *)8};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    for (size_t i = 0; i < COUNT(known); i++)
        printf("%ld ", raw(SECCOMP_GET_ACTION_AVAIL, 0, &known[i]));
    printf("%ld %ld\n", raw(SECCOMP_GET_ACTION_AVAIL, 1, &known[0]), raw(SECCOMP_GET_ACTION_AVAIL, 0, NULL));
    printf("%ld %ld %ld\n", raw(77, 0, NULL), raw(SECCOMP_SET_MODE_STRICT, 1, NULL),
           raw(SECCOMP_SET_MODE_STRICT, 0, known));
    printf("%ld %ld %ld %ld\n", raw(SECCOMP_SET_MODE_FILTER, 0, NULL), raw(SECCOMP_SET_MODE_FILTER, 0, &none),
           raw(SECCOMP_SET_MODE_FILTER, 0, &nowhere), raw(SECCOMP_SET_MODE_FILTER, 0, &bad));
    printf("%ld %ld\n", raw(SECCOMP_SET_MODE_FILTER, 1 << 20, NULL),
           raw(SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_LOG, NULL));
    printf("%d", prctl(PR_SET_SECCOMP, 5, 0));
    printf(" %d", errno);
    printf(" %d\n", prctl(PR_GET_SECCOMP));
    answer(SYS_getppid, SECCOMP_RET_ALLOW);
    printf("%ld", raw(SECCOMP_SET_MODE_STRICT, 0, NULL));
    printf(" %d\n", prctl(PR_GET_SECCOMP));
}

/* One instruction that is never run, in filters that allow everything. */
static void validity(void) {
    const uint32_t constants[] = {0, 1, 4, 15, 16, 31, 32, 60, 62, 64, 0xfffff000, 0xffffffff};
    uint64_t hash = 0;
    int good = 0, bad = 0;
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    for (uint32_t code = 0; code < 0x120; code++) {
        for (size_t i = 0; i < COUNT(constants); i++) {
            struct sock_filter program[] = {BPF_STMT(BPF_ST, 4),
                                            BPF_STMT(BPF_JMP | BPF_JA, 1),
                                            {(uint16_t)code, (uint8_t)(i & 1), (uint8_t)(i & 2), constants[i]},
                                            RETURN(SECCOMP_RET_ALLOW),
                                            RETURN(SECCOMP_RET_ALLOW)};
            long result = install(program, COUNT(program));
            good += result == 0, bad += result == -EINVAL;
            hash = hash * 1000003 + (uint64_t)result;
        }
    }
    printf("%d good, %d bad, %lx\n", good, bad, (long)hash);
}

static void memory_rules(void) {
    struct sock_filter unwritten[] = {BPF_STMT(BPF_LD | BPF_MEM, 3), RETURN(SECCOMP_RET_ALLOW)};
    struct sock_filter one_path[] = {LOAD(0), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 1, 0, 1), BPF_STMT(BPF_ST, 3),
                                     BPF_STMT(BPF_LDX | BPF_MEM, 3), RETURN(SECCOMP_RET_ALLOW)};
    struct sock_filter both[] = {LOAD(0),
                                 BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 1, 0, 2),
                                 BPF_STMT(BPF_ST, 3),
                                 BPF_STMT(BPF_JMP | BPF_JA, 1),
                                 BPF_STMT(BPF_STX, 3),
                                 BPF_STMT(BPF_LDX | BPF_MEM, 3),
                                 RETURN(SECCOMP_RET_ALLOW)};
    struct sock_filter no_return[] = {LOAD(0), LOAD(4)};
    struct sock_filter beyond[] = {BPF_STMT(BPF_JMP | BPF_JA, 1), RETURN(SECCOMP_RET_ALLOW)};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    printf("%ld %ld %ld %ld %ld\n", install(unwritten, COUNT(unwritten)), install(one_path, COUNT(one_path)),
           install(both, COUNT(both)), install(no_return, COUNT(no_return)), install(beyond, COUNT(beyond)));
    static struct sock_filter large[4097];
    for (size_t i = 0; i < COUNT(large); i++)
        large[i] = (struct sock_filter)RETURN(SECCOMP_RET_ALLOW);
    printf("%ld %ld\n", install(large, 4097), install(large, 4096));
    int count = 0;
    long error = 0;
    while (count < 20 && !(error = install(large, 4096)))
        count++;
    printf("%d %ld\n", count < 20, error);
}

/* ---------------------------------------------------------------------------------------------------------- arithmetic */

static uint64_t state = 88172645463325252;

static uint32_t number(uint32_t bound) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (uint32_t)(state >> 20) % bound;
}

static uint32_t constant(void) {
    const uint32_t some[] = {0, 1, 2, 31, 0x7fffffff, 0x80000000, 0xffffffff};
    return number(2) ? some[number(COUNT(some))] : (uint32_t)state;
}

/* Something random; `left` more will follow. */
static struct sock_filter random_step(uint32_t left) {
    const uint16_t operations[] = {BPF_ADD, BPF_SUB, BPF_MUL, BPF_DIV, BPF_AND,
                                   BPF_OR,  BPF_XOR, BPF_LSH, BPF_RSH, BPF_NEG};
    const uint16_t tests[] = {BPF_JEQ, BPF_JGT, BPF_JGE, BPF_JSET};
    uint16_t source = number(2) ? BPF_X : BPF_K, operation = operations[number(COUNT(operations))];
    uint32_t k = constant(), distance = left < 5 ? 1 : 5;
    switch (number(8)) {
    case 0:
        return (struct sock_filter)LOAD(16 + 4 * number(12));
    case 1:
        return (struct sock_filter)BPF_STMT(number(2) ? BPF_LD | BPF_IMM : BPF_LDX | BPF_IMM, k);
    case 2:
        return (struct sock_filter)BPF_STMT(number(2) ? BPF_MISC | BPF_TAX : BPF_MISC | BPF_TXA, 0);
    case 3:
        return (struct sock_filter)BPF_STMT(number(2) ? BPF_ST : BPF_STX, number(4));
    case 4:
        return (struct sock_filter)BPF_STMT((number(2) ? BPF_LD : BPF_LDX) | (number(4) ? BPF_MEM : BPF_LEN),
                                            number(4));
    case 5:
        return (struct sock_filter)BPF_JUMP(BPF_JMP | tests[number(4)] | source, k, (uint8_t)number(distance),
                                            (uint8_t)number(distance));
    default:
        if (source == BPF_K && (operation == BPF_LSH || operation == BPF_RSH))
            k %= 32;
        if (operation == BPF_DIV && !k)
            k = 3;
        return (struct sock_filter)BPF_STMT(BPF_ALU | operation | (operation == BPF_NEG ? 0 : source), k);
    }
}

static int evaluate(void) {
    enum { STEPS = 40, BEFORE = 6 };
    struct sock_filter code[BEFORE + STEPS + 4] = {
        LOAD(FIELD(nr)),           BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 1, 0),
        RETURN(SECCOMP_RET_ALLOW), LOAD(FIELD(args[1])),
        BPF_STMT(BPF_ST, 0),       BPF_STMT(BPF_ST, 1)};
    code[2] = (struct sock_filter)RETURN(SECCOMP_RET_ALLOW);
    uint32_t n = BEFORE;
    code[n++] = (struct sock_filter)BPF_STMT(BPF_ST, 2);
    code[n++] = (struct sock_filter)BPF_STMT(BPF_ST, 3);
    while (n < BEFORE + STEPS)
        code[n] = random_step(BEFORE + STEPS - n), n++;
    code[n++] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xff);
    code[n++] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_OR | BPF_K, SECCOMP_RET_ERRNO);
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_A, 0);
    struct sock_fprog p = {(unsigned short)n, code};
    if (raw(SECCOMP_SET_MODE_FILTER, 0, &p))
        return 255;
    long result =
        syscall(SYS_getppid, 0x123456789abcdef0, 0x8000000080000001, 3, 0xfffffffffffffff0, 0x1f, 0x7fffffff00000000);
    return result < 0 ? errno & 0xff : 254;
}

static void arithmetic(void) {
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    uint64_t hash = 0;
    int kinds[3] = {0};
    for (int i = 0; i < 250; i++) {
        int status;
        state = 88172645463325252 + (uint64_t)i * 0x9e3779b97f4a7c15;
        fflush(stdout);
        pid_t child = fork();
        if (!child)
            _exit(evaluate());
        waitpid(child, &status, 0);
        int result = WIFEXITED(status) ? WEXITSTATUS(status) : 300 + WTERMSIG(status);
        kinds[result == 255 ? 0 : result >= 300 ? 1 : 2]++;
        hash = hash * 1000003 + (uint64_t)result;
    }
    printf("%d invalid, %d killed, %d answers, %lx\n", kinds[0], kinds[1], kinds[2], (long)hash);
}

int main(int argc, char **argv, char **envp) {
    environment = envp;
    if (argc > 1) {
        printf("again: %ld %ld mode %d\n", call(SYS_getppid), call(SYS_getuid), prctl(PR_GET_SECCOMP));
        return 5;
    }
    const struct {
        const char *name;
        void (*f)(void);
    } all[] = {{"errors", errors},
               {"kinds", kinds},
               {"kills", kills},
               {"kills_last_thread", kills_last_thread},
               {"kills_by_unknown", kills_by_unknown},
               {"strictest", strictest},
               {"strict", strict},
               {"strict_killed", strict_killed},
               {"traps", traps},
               {"traps_blocked", traps_blocked},
               {"traps_ignored", traps_ignored},
               {"arguments", arguments},
               {"places", places},
               {"alone", alone},
               {"synchronised", synchronised},
               {"not_synchronised", not_synchronised},
               {"kills_thread", kills_thread},
               {"kills_all_threads", kills_all_threads},
               {"inherited", inherited},
               {"start_again", start_again},
               {"long_filters", long_filters},
               {"status_lines", status_lines},
               {"rights", rights},
               {"operations", operations},
               {"validity", validity},
               {"memory_rules", memory_rules},
               {"arithmetic", arithmetic}};
    for (size_t i = 0; i < COUNT(all); i++)
        try(all[i].name, all[i].f);
    return 0;
}
