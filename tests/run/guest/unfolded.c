/* unfolded.c: small functions that call themselves, whose bodies are put in the place of these calls, and what may happen in the middle of that: jumps out, other
 * stacks, signals, faults, system calls. */
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>
#include <unistd.h>

#define APART __attribute__((noinline, noclone))
#define OPAQUE(x) __asm__ volatile("" : "+r"(x))

static long rounds;

/* ---------------------------------------------------------------------------------------------------- numbers of calls */

APART static uint64_t one_call(uint64_t n) {
    OPAQUE(n);
    return n ? one_call(n - 1) * 3 + n : 1;
}

APART static uint64_t two_calls(uint64_t n) {
    return n < 2 ? n + 1 : two_calls(n - 1) + 2 * two_calls(n - 2);
}

APART static uint64_t four_calls(uint64_t n, uint64_t a) {
    if (n == 0)
        return a;
    a = four_calls(n - 1, a + 1) ^ four_calls(n - 1, a * 2);
    return four_calls(n - 1, a) + four_calls(n / 2, a + n);
}

APART static double floats(int n, double x, float y) {
    return n == 0 ? x : floats(n - 1, x * 0.5 + y, y + 1.0f) - floats(n - 1, x, y * 0.25f);
}

static void numbers(void) {
    uint64_t sum = 0;
    double d = 0;
    for (long i = 0; i < rounds; i++) {
        sum = sum * 7 + one_call((uint64_t)i % 30) + two_calls((uint64_t)i % 12) + four_calls((uint64_t)i % 4, sum);
        d += floats((int)(i % 7), 1.5, (float)i);
    }
    printf("numbers %llx %.6g\n", (unsigned long long)sum, d);
}

/* ------------------------------------------------------------------------------------------------------------ jumps out */

static jmp_buf out;

APART static long leaves(long n, long at) {
    long here = n;
    if (n == at)
        longjmp(out, (int)n + 1);
    if (n == 0)
        return 0;
    OPAQUE(here);
    return leaves(n - 1, at) + leaves(n - 2 > 0 ? n - 2 : 0, -1) + here;
}

static void jumps(void) {
    volatile long sum = 0;
    for (volatile long i = 0; i < rounds; i++) {
        int left = setjmp(out);
        sum += left ? left * 1000 : leaves(9, i % 11);
    }
    printf("jumps %ld\n", sum);
}

/* --------------------------------------------------------------------------------------------------------- other stacks */

static ucontext_t mine, theirs;
static long given;

APART static void walk(long n) {
    if (n == 0) {
        given++;
        swapcontext(&theirs, &mine);
        return;
    }
    walk(n - 1);
    given += n;
    walk(n - 1);
}

static void start(void) {
    for (;;)
        walk(4);
}

static void stacks(void) {
    static char stack[64 << 10];
    getcontext(&theirs);
    theirs.uc_stack.ss_sp = stack;
    theirs.uc_stack.ss_size = sizeof(stack);
    makecontext(&theirs, start, 0);
    for (long i = 0; i < rounds; i++)
        swapcontext(&mine, &theirs);
    printf("stacks %ld\n", given);
}

/* ------------------------------------------------------------------------------------------------- signals, system calls */

static volatile long signals;

static void count(int sig) {
    (void)sig;
    signals++;
}

APART static long raises(long n) {
    if (n == 0)
        return raise(SIGUSR1) + 1;
    return raises(n - 1) + (getppid() > 0) + raises(n / 3);
}

static void interrupted(void) {
    long sum = 0;
    signal(SIGUSR1, count);
    for (long i = 0; i < rounds / 20; i++)
        sum += raises(i % 7);
    printf("signals %ld %ld\n", (long)signals, sum);
}

/* --------------------------------------------------------------------------------------------------------------- faults */

static sigjmp_buf again;

static void leave(int sig) {
    siglongjmp(again, sig);
}

APART static long touches(long n, volatile int *p) {
    OPAQUE(n);
    return n == 0 ? *p : touches(n - 1, n == 3 ? p : p + 1) + n;
}

APART static long endless(volatile long *n) {
    volatile long here = ++*n;
    return endless(n) + here;
}

static void faults(void) {
    static int numbers[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    static char stack[64 << 10];
    stack_t other = {.ss_sp = stack, .ss_size = sizeof(stack)};
    struct sigaction act = {.sa_handler = leave, .sa_flags = SA_ONSTACK};
    volatile long sum = 0, caught = 0, deep = 0;
    for (long i = 0; i < rounds; i++)
        sum += touches(i % 9, numbers);
    sigaltstack(&other, NULL);
    sigaction(SIGSEGV, &act, NULL);
    for (volatile long i = 0; i < 40; i++)
        if (sigsetjmp(again, 1))
            caught++;
        else
            sum += touches(i % 9, i % 2 ? numbers : (int *)64);
    if (!sigsetjmp(again, 1))
        endless(&deep);
    printf("faults %ld %ld %d\n", sum, caught, deep > 10000);
}

int main(int argc, char **argv) {
    rounds = argc > 1 ? atol(argv[1]) : 2000;
    numbers();
    jumps();
    stacks();
    interrupted();
    faults();
    numbers();
    return 0;
}
