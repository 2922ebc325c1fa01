/* vectors.c: vector registers of all sizes keep what is in them, whatever happens between two instructions: system calls, code that is
 * new, signals, a fork, other threads, and loops of code that knows only their lowest 128 bits. */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct Bank {
    uint8_t vector[32][64];
    uint64_t mask[8];
} __attribute__((aligned(64))) Bank;

typedef void Act(void *arg);

/* Load all registers, call act(arg), which must not touch them itself, store all registers. */
void around_ymm(const Bank *in, Bank *out, Act *act, void *arg);
void around_zmm(const Bank *in, Bank *out, Act *act, void *arg);

asm(".text\n"
    "around_ymm:\n"
    "push %rbx\n sub $16, %rsp\n mov %rsi, %rbx\n mov %rcx, %rax\n"
    ".set i, 0\n"
    ".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n vmovdqa 64*\\n(%rdi), %ymm\\n\n .endr\n"
    "mov %rax, %rdi\n call *%rdx\n"
    ".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n vmovdqa %ymm\\n, 64*\\n(%rbx)\n .endr\n"
    "vzeroupper\n add $16, %rsp\n pop %rbx\n ret\n"
    "around_zmm:\n"
    "push %rbx\n sub $16, %rsp\n mov %rsi, %rbx\n mov %rcx, %rax\n"
    ".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n vmovdqa64 64*\\n(%rdi), %zmm\\n\n .endr\n"
    ".irp n, 16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\n vmovdqa64 64*\\n(%rdi), %zmm\\n\n .endr\n"
    ".irp n, 0,1,2,3,4,5,6,7\n kmovq 2048+8*\\n(%rdi), %k\\n\n .endr\n"
    "mov %rax, %rdi\n call *%rdx\n"
    ".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n vmovdqa64 %zmm\\n, 64*\\n(%rbx)\n .endr\n"
    ".irp n, 16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\n vmovdqa64 %zmm\\n, 64*\\n(%rbx)\n .endr\n"
    ".irp n, 0,1,2,3,4,5,6,7\n kmovq %k\\n, 2048+8*\\n(%rbx)\n .endr\n"
    "vzeroupper\n add $16, %rsp\n pop %rbx\n ret\n");

static int wide; /* zmm, or only ymm */

static void around(const Bank *in, Bank *out, Act *act, void *arg) {
    (wide ? around_zmm : around_ymm)(in, out, act, arg);
}

static void fill(Bank *b, uint64_t seed) {
    uint64_t *word = (uint64_t *)b;
    for (size_t i = 0; i < sizeof(*b) / 8; i++)
        word[i] = seed = (seed ^ seed >> 29) * 0xbf58476d1ce4e5b9u + i;
}

/* How many registers differ, from byte `from` of those below `low` on. */
static int differences(const Bank *a, const Bank *b, int from, int low) {
    int count = 0;
    for (int i = 0; i < (wide ? 32 : 16); i++) {
        int begin = i < low ? from : 0, end = wide ? 64 : 32;
        count += memcmp(a->vector[i] + begin, b->vector[i] + begin, end - begin) != 0;
    }
    for (int i = 0; wide && i < 8; i++)
        count += a->mask[i] != b->mask[i];
    return count;
}

static void report(const char *name, Act *act, void *arg) {
    static Bank in, out;
    fill(&in, 1);
    memset(&out, 0, sizeof(out));
    around(&in, &out, act, arg);
    printf("%s: %d differ\n", name, differences(&in, &out, 0, 0));
}

/* ---------------------------------------------------------------------------------------------------------- what happens */

static long system_call(long number, long a, long b, long c) {
    long result;
    asm volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
    return result;
}

static void nothing(void *arg) {
}

static void ask_kernel(void *arg) {
    for (int i = 0; i < 10; i++)
        system_call(SYS_getpid, 0, 0, 0);
}

static void call_new_code(void *arg) {
    for (int i = 0; i < 200; i++)
        ((void (*)(void))((char *)arg + 16 * i))();
}

static void ask_processor(void *arg) {
    unsigned a, b, c, d;
    for (unsigned leaf = 0; leaf < 3; leaf++)
        asm volatile("cpuid" : "=a"(a), "=b"(b), "=c"(c), "=d"(d) : "a"(leaf), "c"(0));
}

static void signal_self(void *arg) {
    system_call(SYS_tgkill, ((long *)arg)[0], ((long *)arg)[1], SIGUSR1);
}

static volatile sig_atomic_t handled;

static void spoil(int sig) {
    Bank b, scratch;
    fill(&b, 99);
    around(&b, &scratch, nothing, NULL);
    if (wide)
        asm volatile("vpternlogd $255, %zmm20, %zmm20, %zmm20\n kxnorq %k5, %k5, %k5\n vpcmpeqd %ymm7, %ymm7, %ymm7");
    else
        asm volatile("vpcmpeqd %ymm7, %ymm7, %ymm7\n vpcmpeqd %ymm15, %ymm15, %ymm15");
    handled++;
}

/* A loop that gets optimised code, of instructions that leave bits from 128 on alone. */
static void loop_below(void *arg) {
    asm volatile("1: paddd %%xmm1, %%xmm0\n pxor %%xmm0, %%xmm2\n mulsd %%xmm3, %%xmm4\n cvtsi2sd %0, %%xmm5\n"
                 "movaps %%xmm2, %%xmm1\n psrlq $3, %%xmm1\n dec %0\n jnz 1b"
                 : "+r"(*(long *)arg));
}

/* --------------------------------------------------------------------------------------------------------------- cases */

static void new_code(void) {
    unsigned char *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < 200; i++)
        memcpy(p + 16 * i, "\x48\x8d\x04\x25\x07\x00\x00\x00\xc3", 9); /* lea 7, rax; ret */
    report("new code", call_new_code, p);
    munmap(p, 4096);
}

static void signals(void) {
    struct sigaction action = {.sa_handler = spoil};
    long ids[] = {getpid(), syscall(SYS_gettid)};
    sigaction(SIGUSR1, &action, NULL);
    report("signal", signal_self, ids);
    printf("handled %d\n", (int)handled);
}

/* Ticks may come anywhere. */
static void ticks(void) {
    struct sigaction action = {.sa_handler = spoil, .sa_flags = SA_RESTART};
    struct itimerval often = {{0, 500}, {0, 500}}, never = {0};
    static Bank in, out;
    int bad = 0;
    handled = 0;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    for (int i = 0; handled < 50; i++) {
        fill(&in, i);
        for (int k = 0; k < 100; k++) {
            around(&in, &out, nothing, NULL);
            bad += differences(&in, &out, 0, 0) != 0;
        }
    }
    setitimer(ITIMER_REAL, &never, NULL);
    printf("ticks: %d wrong\n", bad);
}

static void forked(void) {
    static Bank in, out;
    int status;
    fill(&in, 5);
    fflush(stdout);
    long result[3] = {0};
    asm volatile("" ::: "memory");
    pid_t parent = getpid();
    void fork_here(void *arg);
    around(&in, &out, fork_here, result);
    int bad = differences(&in, &out, 0, 0);
    if (getpid() != parent)
        _exit(bad);
    wait(&status);
    printf("fork: %d differ in the parent, %d in the child\n", bad, WEXITSTATUS(status));
}

void fork_here(void *arg) {
    *(long *)arg = system_call(SYS_fork, 0, 0, 0);
}

static void loops(void) {
    static Bank in, out;
    for (int i = 0; i < 3; i++) {
        long rounds = 40000000;
        fill(&in, i);
        around(&in, &out, loop_below, &rounds);
        printf("loop: %d differ, xmm2 %02x%02x\n", differences(&in, &out, 16, 6), out.vector[2][0], out.vector[2][15]);
    }
}

static void *work(void *arg) {
    Bank in, out;
    long bad = 0;
    for (int i = 0; i < 3000; i++) {
        fill(&in, (uintptr_t)arg + i);
        around(&in, &out, ask_kernel, NULL);
        bad += differences(&in, &out, 0, 0) != 0;
    }
    return (void *)bad;
}

static void threads(void) {
    pthread_t thread[4];
    long bad = 0;
    for (long i = 0; i < 4; i++)
        pthread_create(&thread[i], NULL, work, (void *)i);
    for (int i = 0; i < 4; i++) {
        void *result;
        pthread_join(thread[i], &result);
        bad += (long)result;
    }
    printf("threads: %ld wrong\n", bad);
}

int main(void) {
    wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw");
    if (!__builtin_cpu_supports("avx2")) {
        printf("no AVX2\n");
        return 0;
    }
    report(wide ? "zmm" : "ymm", nothing, NULL);
    report("system calls", ask_kernel, NULL);
    report("cpuid", ask_processor, NULL);
    new_code();
    loops();
    forked();
    signals();
    ticks();
    loops();
    threads();
    ticks();
    return 0;
}
