/* nested.c: functions that call each other in ways that call stacks have to be found through: without frame pointers, through a library and its callback, in a handler of a
 * signal, on another stack. Each ends in leaf(), whose callers are what stacks.c prints. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

int through_library(int (*callback)(int), int n); /* of nestedlib.c */

static volatile int sink;

NOINLINE int leaf(int n) {
    return sink += n;
}

/* Something is left to do behind each call, so that it is one. */
NOINLINE static int third(int n) {
    return leaf(n) + 3;
}

NOINLINE static int second(int n) {
    volatile char room[100];
    room[n & 63] = 1;
    return third(n + room[n & 63]) + 2;
}

NOINLINE static int first(int n) {
    return second(n) * 3 + n;
}

/* An array whose size is not known, which has the compiler keep a frame's address in a register. */
NOINLINE static int varying(int n) {
    volatile char room[n + 100];
    __attribute__((aligned(64))) volatile char aligned[64];
    room[n] = aligned[0] = (char)n;
    return second(n + room[n] + aligned[0]) + 7;
}

NOINLINE static int callback(int n) {
    return third(n) + 4;
}

NOINLINE static int compare(const void *a, const void *b) {
    third(1);
    return *(const int *)a - *(const int *)b;
}

NOINLINE static void sort(void) {
    int all[] = {2, 1};
    qsort(all, 2, sizeof(*all), compare);
    sink++;
}

NOINLINE static void on_signal(int sig) {
    sink += third(sig);
}

NOINLINE static void interrupted(int sig, void (*on)(int), int flags) {
    static char other[64 << 10];
    stack_t stack = {.ss_sp = other, .ss_size = sizeof(other)};
    sigaltstack(&stack, NULL);
    sigaction(sig, &(struct sigaction){.sa_handler = on, .sa_flags = flags}, NULL);
    raise(sig);
    sink++;
}

/* A fault in the middle of a function: the handler returns behind nothing that was called. */
static char *page;

NOINLINE static void on_fault(int sig) {
    sink += third(sig);
    mprotect(page, 4096, PROT_READ | PROT_WRITE);
}

NOINLINE static int faulting(void) {
    page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    sigaction(SIGSEGV, &(struct sigaction){.sa_handler = on_fault, .sa_flags = SA_ONSTACK}, NULL);
    page[100] = 1;
    return sink++;
}

NOINLINE static int recursive(int depth) {
    return depth ? recursive(depth - 1) + sink : leaf(depth);
}

/* Called once: its callers are the same at all of its instructions. */
NOINLINE static int whole(int n) {
    int a = leaf(n), b = leaf(a);
    return a * b + leaf(a - b);
}

int main(void) {
    whole(2);
    first(1);
    varying(1);
    through_library(callback, 1);
    sort();
    interrupted(SIGUSR1, on_signal, 0);
    interrupted(SIGUSR2, on_signal, SA_ONSTACK);
    faulting();
    recursive(100);
    return 0;
}
