/* setjmp(), longjmp() and vfork(): across functions, out of callbacks of native code and of handlers, with locals that have changed since. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define APART __attribute__((noinline, noclone))

static jmp_buf outer, inner;
static sigjmp_buf caught;
static int depth_reached;

APART static void deep(int depth, int value) {
    char frame[64];
    memset(frame, depth, sizeof(frame));
    depth_reached = depth;
    if (!depth)
        longjmp(outer, value);
    deep(depth - 1, value);
    printf("never %d\n", frame[3]);
}

APART static int simple(int value) {
    int kept = value * 3;
    int r = setjmp(outer);
    if (!r)
        deep(20, value);
    return r * 1000 + kept + depth_reached;
}

/* What is volatile keeps what it was given after setjmp(). */
APART static long loops(int n) {
    volatile int rounds = 0;
    volatile long sum = 0;
    double factor = n * 0.5;
    int r = setjmp(inner);
    rounds++;
    sum += r;
    if (rounds < n)
        longjmp(inner, rounds * 10);
    return sum + (long)(factor * 100) + rounds;
}

static int compare(const void *a, const void *b) {
    int x = *(const int *)a, y = *(const int *)b;
    if (x == 13 || y == 13)
        longjmp(inner, 13);
    return x - y;
}

APART static int from_callback(int bad) {
    int list[] = {5, 2, bad, 9, 1}, local = bad * 2;
    int r = setjmp(inner);
    if (r)
        return r * 100 + local;
    qsort(list, 5, sizeof(*list), compare);
    return list[0] + list[4] + local;
}

static void handler(int number) {
    siglongjmp(caught, number);
}

APART static int from_handler(int times) {
    volatile int seen = 0;
    signal(SIGUSR1, handler);
    if (sigsetjmp(caught, 1))
        seen++;
    if (seen < times)
        raise(SIGUSR1);
    return seen;
}

APART static int from_fault(volatile int *p) {
    signal(SIGSEGV, handler);
    int r = sigsetjmp(caught, 1);
    if (r)
        return r == SIGSEGV;
    return *p;
}

/* Errors as interpreters raise them: each level has its own place to come back to. */
struct Level {
    struct Level *before;
    jmp_buf place;
    int status;
};
static struct Level *level;

APART static void fail(int status) {
    level->status = status;
    longjmp(level->place, 1);
}

APART static int protect(int (*work)(int), int argument) {
    struct Level own = {level};
    int result = -1;
    level = &own;
    if (!setjmp(own.place))
        result = work(argument);
    level = own.before;
    return own.status ? own.status : result;
}

static int work(int n) {
    if (n == 0)
        fail(77);
    if (n % 3 == 0)
        return protect(work, n - 1) + n;
    return work(n - 1) + 1;
}

/* The child runs in this function's frame, and then the parent does. */
APART static int child(int status) {
    int seen = 0, own = status * 2;
    pid_t pid = vfork();
    if (!pid) {
        if (status > 5)
            execl("/bin/sh", "sh", "-c", "exit 9", (char *)NULL);
        _exit(status);
    }
    waitpid(pid, &seen, 0);
    return WEXITSTATUS(seen) * 100 + own;
}

int main(void) {
    printf("%d %d\n", simple(7), simple(8));
    printf("%ld %ld\n", loops(5), loops(9));
    printf("%d %d\n", from_callback(13), from_callback(7));
    printf("%d\n", from_handler(4));
    printf("%d\n", from_fault(NULL));
    printf("%d %d %d\n", protect(work, 10), protect(work, 2), protect(work, 30));
    printf("%d %d\n", child(4), child(6));
    return 0;
}
