/* Loops that are hot enough to get optimised code, while what such code depends on changes: memory near it is given other rights, other threads
 * begin and end, code is replaced, signals come, accesses fault and are repaired.
 *
 *     stirred rights    the rights of code near a hot loop change
 *     stirred threads   threads compute, wait for memory that others write, get signals, and call code that is replaced
 *     stirred workers   the same without the last
 *     stirred faults    threads write to pages that are taken away from them and given back by a handler, or leave by a jump
 *     stirred large     a loop is larger than what is optimised as a whole
 *
 * A number behind it makes the last three take longer. Results are sums that do not depend on who came first. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int rounds = 1; /* the work is so many times as long */

enum { PAGE = 4096, WORKERS = 2, CELLS = 512 };

static void die(const char *what) {
    printf("%s\n", what);
    exit(1);
}

/* ------------------------------------------------------------------------------------------------------------ hot loops */

__attribute__((noinline)) static uint64_t mix(uint64_t x, int turns) {
    for (int i = 0; i < turns; i++)
        x = (x ^ x >> 7) * 0x9e3779b97f4a7c15u + (uint64_t)i;
    return x;
}

__attribute__((noinline)) static uint64_t sum(const uint32_t *a, int count) {
    uint64_t s = 0;
    for (int i = 0; i < count; i++)
        s += a[i] * (uint64_t)(i & 15);
    return s;
}

__attribute__((noinline)) static unsigned depth(unsigned n) {
    return n < 2 ? n : depth(n - 1) + depth(n - 2) % 3;
}

/* Two functions of the same size; the first is replaced by copies of either. A page has nothing else. */
#define VARIANT(name, value)                                                                                           \
    __attribute__((noinline, aligned(PAGE), section(".text.variants"))) static int name(void) {                        \
        return value;                                                                                                  \
    }
VARIANT(answer, 3)
VARIANT(first, 1)
VARIANT(second, 2)
VARIANT(behind, 0)

static void set_rights(int rights) {
    if (mprotect((void *)answer, PAGE, rights))
        die("no mprotect");
}

static void replace(int with) {
    void *volatile from = with == 1 ? (void *)first : (void *)second, *volatile to = (void *)
                                                                          answer; /* the compiler does not know what */
    set_rights(PROT_READ | PROT_WRITE);
    memcpy(to, from, 16);
    set_rights(PROT_READ | PROT_EXEC);
    __builtin___clear_cache((char *)answer, (char *)answer + 16);
}

/* --------------------------------------------------------------------------------------------------------------- rights */

static void rights(void) {
    int (*volatile call)(void) = answer;
    uint64_t x = 1, calls = 0;
    for (int i = 0; i < 60; i++) {
        x = mix(x, 300000);
        replace(1 + i % 2);
        calls += (uint64_t)call();
    }
    printf("%lx %lu %d\n", (unsigned long)x, (unsigned long)calls, behind());
}

/* -------------------------------------------------------------------------------------------------------------- threads */

static _Atomic int paused, waiting, version, ended, turns;
static _Atomic uint64_t signals[WORKERS];
static __thread int number;

static void on_signal(int sig) {
    (void)sig;
    signals[number]++;
}

/* Here until the code is replaced: a loop of nothing but loads. */
__attribute__((noinline)) static void wait_while_paused(void) {
    waiting++;
    while (atomic_load_explicit(&paused, memory_order_relaxed))
        ;
    waiting--;
}

static void *work(void *arg) {
    static const uint32_t table[CELLS] = {3, 1, 4, 1, 5, 9, 2, 6};
    int (*volatile call)(void) = answer;
    uint64_t x = 7;
    number = (int)(intptr_t)arg;
    for (int i = 0; !atomic_load(&ended) || i < 40 * rounds; i++) {
        if (atomic_load(&paused))
            wait_while_paused();
        if (i < 40 * rounds)
            x = mix(x, 60000) + sum(table, CELLS) + depth(14);
        if (call() != atomic_load(&version)) /* which changes while all wait */
            die("old code");
        turns += i == 0;
    }
    return (void *)(uintptr_t)x;
}

/* Returns when all workers are in wait_while_paused. */
static void pause_all(void) {
    paused = 1;
    while (waiting < WORKERS)
        sched_yield();
}

static void *idle(void *arg) {
    return arg;
}

static void threads(bool replaces) {
    pthread_t id[WORKERS], other;
    struct sigaction a = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigaction(SIGUSR1, &a, NULL);
    version = 3;
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&id[i], NULL, work, (void *)(intptr_t)i);
    while (turns < WORKERS) /* they know their numbers now */
        sched_yield();
    for (int round = 0; round < 12; round++) {
        uint64_t before[WORKERS];
        for (int i = 0; i < WORKERS; i++) {
            before[i] = signals[i];
            pthread_kill(id[i], SIGUSR1);
        }
        for (int i = 0; i < WORKERS; i++)
            while (signals[i] == before[i])
                sched_yield();
        pause_all();
        if (replaces) {
            replace(1 + round % 2);
            version = 1 + round % 2;
        }
        paused = 0;
        while (waiting)
            sched_yield();
        pthread_create(&other, NULL, idle, NULL);
        pthread_join(other, NULL);
    }
    ended = 1;
    uint64_t all = 0;
    for (int i = 0; i < WORKERS; i++) {
        void *x;
        pthread_join(id[i], &x);
        all += (uintptr_t)x;
    }
    printf("%lx\n", (unsigned long)all);
}

/* --------------------------------------------------------------------------------------------------------------- faults */

typedef struct Room {
    volatile uint64_t *before, *page, *after;
    sigjmp_buf back;
    int jumps; /* a fault is left by a jump, not repaired */
    int faults;
} Room;

static __thread Room *room;

static void set_page(const Room *r, int rights) {
    mprotect((void *)r->page, PAGE, rights);
}

/* The state of the loop is that of the access: what comes before it is stored, what comes behind it is not. */
static void on_fault(int sig, siginfo_t *info, void *context) {
    volatile uint64_t *at = info->si_addr;
    (void)sig, (void)context;
    room->faults++;
    if (!at)
        siglongjmp(room->back, 2);
    size_t i = (size_t)(at - room->page);
    if (i >= CELLS)
        _exit(3);
    if (room->before[i] != room->after[i] + 1)
        _exit(4);
    if (room->jumps)
        siglongjmp(room->back, 1);
    set_page(room, PROT_READ | PROT_WRITE);
}

__attribute__((noinline)) static uint64_t fill(const Room *r, uint64_t s) {
    volatile uint64_t *before = r->before, *page = r->page, *after = r->after;
    for (int i = 0; i < CELLS; i++) {
        before[i]++;
        page[i] = s = s * 5 + page[i] + (uint64_t)i;
        after[i]++;
    }
    return s;
}

static void *take_away(void *arg) {
    while (!atomic_load(&ended)) {
        set_page(arg, PROT_NONE);
        sched_yield();
    }
    return NULL;
}

static void leave_by_jump(Room *r) {
    void (*volatile nowhere)(void) = NULL;
    r->jumps = 1;
    memset((void *)r->before, 0, PAGE);
    memset((void *)r->after, 0, PAGE);
    set_page(r, PROT_READ);
    if (!sigsetjmp(r->back, 1))
        fill(r, 1);
    if (r->before[0] != 1 || r->after[0] || r->before[1])
        _exit(5);
    if (!sigsetjmp(r->back, 1))
        nowhere();
    set_page(r, PROT_READ | PROT_WRITE);
    r->jumps = 0;
}

static void *suffer(void *arg) {
    Room r = {calloc(1, PAGE), mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
              calloc(1, PAGE)};
    uint64_t s = (uintptr_t)arg;
    pthread_t thief;
    room = &r;
    ended = 0;
    pthread_create(&thief, NULL, take_away, &r);
    for (int i = 0; i < 20000 * rounds; i++)
        s = fill(&r, s) + depth(6);
    ended = 1;
    pthread_join(thief, NULL);
    set_page(&r, PROT_READ | PROT_WRITE);
    for (int i = 0; i < 20; i++)
        leave_by_jump(&r);
    if (r.faults < 40)
        die("too few faults");
    return (void *)(uintptr_t)s;
}

static void faults(void) {
    struct sigaction a = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &a, NULL);
    pthread_t id;
    void *x;
    uint64_t own = (uintptr_t)suffer((void *)1);
    pthread_create(&id, NULL, suffer, (void *)2);
    pthread_join(id, &x);
    printf("%lx %lx\n", (unsigned long)own, (unsigned long)(uintptr_t)x);
}

/* ---------------------------------------------------------------------------------------------------------------- large */

/* Some thousand instructions in one loop, with branches. */
#define STEP(k)                                                                                                        \
    x = (x ^ x >> 9) * 0x9e3779b97f4a7c15u + (k);                                                                      \
    if (x >> 60 == (k) % 16)                                                                                           \
        y += x;
#define STEPS(k) STEP(k) STEP(k + 1) STEP(k + 2) STEP(k + 3) STEP(k + 4) STEP(k + 5) STEP(k + 6) STEP(k + 7)
#define MORE(k) STEPS(k) STEPS(k + 8) STEPS(k + 16) STEPS(k + 24) STEPS(k + 32) STEPS(k + 40) STEPS(k + 48)

__attribute__((noinline)) static uint64_t wide(uint64_t x, int turns) {
    uint64_t y = 0;
    for (int i = 0; i < turns; i++) {
        MORE(0) MORE(100) MORE(200) MORE(300) MORE(400)
    }
    return y ^ x;
}

static void large(void) {
    uint64_t x = 3;
    for (int i = 0; i < 20 * rounds; i++)
        x = wide(x, 2000);
    printf("%lx\n", (unsigned long)x);
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    rounds = argc > 2 ? atoi(argv[2]) : 1;
    if (!strcmp(what, "rights"))
        rights();
    else if (!strcmp(what, "threads"))
        threads(true);
    else if (!strcmp(what, "workers"))
        threads(false);
    else if (!strcmp(what, "faults"))
        faults();
    else if (!strcmp(what, "large"))
        large();
    else
        die("rights, threads, workers, faults or large?");
    return 0;
}
