/* syscalls.c: how often a program makes which system calls, how many of these fail, and how long they take: a table when it ends. */
#include <lathe/tool.h>

enum { NUMBERS = 512 };

typedef struct Sum {
    uint64_t calls, errors, nanoseconds;
} Sum;

static Sum sums[NUMBERS];

/* A copy of the program begins with the sums of the one that made it. */
static void start(void) {
    for (unsigned i = 0; i < NUMBERS; i++)
        sums[i] = (Sum){0};
}

static void begin(uint64_t *own) {
    own[0] = lathe_nanoseconds();
}

static void done(uint64_t *own, uint64_t number, int64_t result) {
    Sum *s = &sums[number % NUMBERS];
    __atomic_fetch_add(&s->calls, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&s->errors, result < 0 && result > -4096, __ATOMIC_RELAXED);
    __atomic_fetch_add(&s->nanoseconds, lathe_nanoseconds() - own[0], __ATOMIC_RELAXED);
}

/* The next one in the order of time that was not seen yet; NUMBERS: there is none. */
static unsigned next(const bool seen[NUMBERS]) {
    unsigned best = NUMBERS;
    for (unsigned i = 0; i < NUMBERS; i++)
        if (sums[i].calls && !seen[i] && (best == NUMBERS || sums[i].nanoseconds > sums[best].nanoseconds))
            best = i;
    return best;
}

static void report(void) {
    bool seen[NUMBERS] = {false};
    lathe_print("%10s %10s %10s  %s\n", "us", "calls", "errors", "system call");
    for (unsigned i = next(seen); i < NUMBERS; i = next(seen)) {
        const char *name = lathe_syscall_name(i);
        lathe_print("%10lu %10lu %10lu  %s\n", sums[i].nanoseconds / 1000, sums[i].calls, sums[i].errors,
                    name ? name : "?");
        seen[i] = true;
    }
}

LATHE_HOOKS(LATHE_ON(LATHE_START, start), LATHE_ON(LATHE_SYSCALL, begin, {LATHE_THREAD_OWN}),
            LATHE_ON(LATHE_SYSCALL_DONE, done, {LATHE_THREAD_OWN}, {LATHE_NUMBER}, {LATHE_RESULT}),
            LATHE_ON(LATHE_END, report));
