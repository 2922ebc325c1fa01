/* callees.c: small functions that hot loops call, which are translated together with these loops: what leaves them otherwise than by their return, and what changes
 * while they are called. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#define APART __attribute__((noinline, noclone))
/* Keeps the compiler from knowing what a function does with its arguments. */
#define OPAQUE(x) __asm__ volatile("" : "+r"(x))

static int rounds = 300000;

/* ------------------------------------------------------------------------------------------------ several levels, shared */

APART static uint32_t mix(uint32_t a, uint32_t b) {
    OPAQUE(a);
    return (a ^ b) * 2654435761u + (a >> 5);
}

APART static uint32_t mix_twice(uint32_t a, uint32_t b) {
    uint32_t first = mix(a, b);
    return mix(first, a) + 1;
}

APART static uint32_t mix_often(uint32_t a, uint32_t b) {
    uint32_t first = mix_twice(a, b);
    return mix(mix_twice(first, a), b) ^ first;
}

/* A jump at its end, not a call. */
APART static uint32_t mix_by_jump(uint32_t a, uint32_t b) {
    return mix(a + 3, b);
}

static void levels(void) {
    uint32_t one = 1, two = 2, three = 3;
    for (int i = 0; i < rounds; i++)
        one = mix_often(one, (uint32_t)i);
    for (int i = 0; i < rounds; i++)
        two = mix_by_jump(two, (uint32_t)i) + mix(two, one);
    for (int i = 0; i < rounds; i++)
        three = i & 1 ? mix(three, two) : mix_twice(three, one);
    printf("levels %u %u %u\n", one, two, three);
}

/* -------------------------------------------------------------------------------------------------------------- recursion */

APART static uint32_t fib(uint32_t n) {
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

APART static int is_odd(unsigned n);
APART static int is_even(unsigned n) {
    OPAQUE(n);
    return n ? !is_odd(n - 1) + 2 : 1;
}
APART static int is_odd(unsigned n) {
    OPAQUE(n);
    return n ? is_even(n - 1) * 3 + 1 : 0;
}

static void recursion(void) {
    uint32_t sum = 0;
    for (int i = 0; i < rounds / 1000; i++)
        sum += fib((uint32_t)i % 15);
    for (int i = 0; i < rounds / 10; i++)
        sum += (uint32_t)is_even((unsigned)i % 9);
    printf("recursion %u\n", sum);
}

/* ----------------------------------------------------------------------------------------------------------------- floats */

APART static double blend(double a, double b) {
    return a * 0.75 + b * 0.25;
}

APART static double far_apart(double a, double b, double c, double d, double e, double f, double g, double h) {
    return blend(a + h, g) - blend(b + f, c) + d * e;
}

static void floats(void) {
    double x = 1, y = 2;
    uint32_t whole = 1;
    for (int i = 0; i < rounds; i++) {
        x = blend(x, i);
        y = far_apart(y / 4, x, i, 0.5, 1 / (1 + x), 3, 4, y / 8);
        whole = mix(whole, (uint32_t)i); /* names no vector register, but lies between those that do */
    }
    printf("floats %.10g %.10g %u\n", x, y, whole);
}

/* ---------------------------------------------------------------------------------------------------------- other ways out */

static jmp_buf back;

APART static int check(int i) {
    OPAQUE(i);
    if (i % 1000 == 999)
        longjmp(back, i);
    return i & 3;
}

static void jumps(void) {
    volatile int i = 0, caught = 0;
    volatile unsigned sum = 0;
    if (setjmp(back))
        caught++, i++;
    for (; i < rounds; i++)
        sum += (unsigned)check(i);
    printf("jumps %d %u\n", caught, sum);
}

static sigjmp_buf behind_fault;
static void *volatile faulting;

static void on_fault(int signal, siginfo_t *info, void *context) {
    (void)context;
    faulting = info->si_addr;
    siglongjmp(behind_fault, signal);
}

APART static int load(const int *p) {
    return *p;
}

APART static int divide(int a, int b) {
    return b ? a / b : -1;
}

/* Some of the loads fault; before that handler is installed, none does. */
static void faults(void) {
    static int here[4] = {1, 2, 3, 4};
    int *nowhere = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    volatile int i = 0, caught = 0, right = 0;
    volatile unsigned sum = 0;
    for (int k = 0; k < rounds; k++)
        sum += (unsigned)load(&here[k & 3]);
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER}, old;
    sigaction(SIGSEGV, &action, &old);
    if (sigsetjmp(behind_fault, 1)) {
        right += faulting == nowhere + i % 100;
        caught++, i++;
    }
    for (; i < rounds; i++) {
        sum += (unsigned)load(i % 5000 == 4999 ? nowhere + i % 100 : &here[i & 3]);
        sum += (unsigned)divide(i, i & 7);
    }
    sigaction(SIGSEGV, &old, NULL);
    munmap(nowhere, 4096);
    printf("faults %d %d %u\n", caught, right, sum);
}

/* ------------------------------------------------------------------------------------------- what others change meanwhile */

static volatile int flag;

APART static int seen(const volatile int *p) {
    return *p;
}

/* Neither the loop nor what it calls writes anything. */
static void wait_for(int value) {
    while (seen(&flag) < value) /* a busy machine may show more at once */
        ;
}

static void on_alarm(int signal) {
    (void)signal;
    flag++;
}

static void signals(void) {
    struct sigaction action = {.sa_handler = on_alarm}, old;
    struct itimerval every = {{0, 20000}, {0, 20000}}, never = {{0, 0}, {0, 0}};
    sigaction(SIGALRM, &action, &old);
    flag = 0;
    setitimer(ITIMER_REAL, &every, NULL);
    wait_for(3);
    setitimer(ITIMER_REAL, &never, NULL);
    sigaction(SIGALRM, &old, NULL);
    puts("signals");
}

static void *set_flag(void *unused) {
    (void)unused;
    usleep(30000);
    __atomic_store_n(&flag, 1, __ATOMIC_SEQ_CST);
    return NULL;
}

static void threads(void) {
    pthread_t other;
    flag = 0;
    pthread_create(&other, NULL, set_flag, NULL);
    wait_for(1);
    pthread_join(other, NULL);
    puts("threads");
}

/* --------------------------------------------------------------------------------------------------------- code that changes */

/* Functions of which one becomes a copy of another. They have pages of their own. */
#define PAGE_BYTES 4096
#define IN_PAGE __attribute__((noinline, noclone, section(".text.changes"), aligned(64)))
IN_PAGE static int first(int a) {
    OPAQUE(a);
    return a + 1;
}
IN_PAGE static int second(int a) {
    OPAQUE(a);
    return a + 7;
}

APART static unsigned call_first(int n) {
    unsigned sum = 0;
    for (int i = 0; i < n; i++)
        sum += (unsigned)first(i);
    return sum;
}

static void changes(void) {
    uintptr_t start = (uintptr_t)first & -PAGE_BYTES;
    unsigned char was[16];
    memcpy(was, (void *)(uintptr_t)first, sizeof(was));
    printf("changes %u", call_first(rounds));
    for (int k = 0; k < 4; k++) {
        const void *from = k & 1 ? (void *)was : (void *)(uintptr_t)second;
        mprotect((void *)start, PAGE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC);
        memcpy((void *)(uintptr_t)first, from, sizeof(was));
        __builtin___clear_cache((char *)(uintptr_t)first, (char *)(uintptr_t)first + sizeof(was));
        if (k != 2)
            mprotect((void *)start, PAGE_BYTES, PROT_READ | PROT_EXEC);
        printf(" %u", call_first(rounds));
    }
    puts("");
}

int main(int argc, char **argv) {
    if (argc > 1)
        rounds = atoi(argv[1]);
    levels();
    recursion();
    floats();
    jumps();
    changes();
    signals();
    faults();
    levels();
    threads();
    floats();
    return 0;
}
