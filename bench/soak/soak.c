/* soak.c: a program that does for a while, in several threads at once, what a translator has to keep up with: threads start and end,
 * signals come from timers and other threads, code is made and changed, files are mapped, libraries are loaded, processes are started.
 * Everything is checked; what went wrong is said on stderr, and the exit status is 1.
 *
 *     soak SECONDS
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096, QUEUED = 32, SHOWN = 20 /* errors */ };

extern char **environ;
static atomic_bool done;
static atomic_ulong errors;
static const char *self;

__attribute__((format(printf, 1, 2))) static void wrong(const char *format, ...) {
    va_list args;
    if (atomic_fetch_add(&errors, 1) >= SHOWN)
        return;
    va_start(args, format);
    fputs("soak: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}

/* Until a point in time: to sleep for what is left after each signal adds up. */
static void nap(long us) {
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += us / 1000000;
    end.tv_nsec += us % 1000000 * 1000;
    end.tv_sec += end.tv_nsec / 1000000000;
    end.tv_nsec %= 1000000000;
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL) == EINTR)
        ;
}

/* ------------------------------------------------------------------------------------------------------------- threads */

static void *sum_up(void *from) {
    unsigned long sum = 0, n = (unsigned long)from;
    for (unsigned long i = 0; i < n; i++)
        sum += i * i ^ sum >> 3;
    return (void *)sum;
}

static unsigned long start_threads(void) {
    pthread_t thread[8];
    void *result;
    for (unsigned long i = 0; i < 8; i++)
        if (pthread_create(&thread[i], NULL, sum_up, (void *)(1000 * i)))
            wrong("pthread_create: %s", strerror(errno));
    for (unsigned long i = 0; i < 8; i++) {
        pthread_join(thread[i], &result);
        if (result != sum_up((void *)(1000 * i)))
            wrong("a thread has computed something else");
    }
    return 8;
}

/* ------------------------------------------------------------------------------------------------------------- signals */

static atomic_long queued_sum;
static atomic_ulong ticks;

static void on_queued(int sig, siginfo_t *info, void *context) {
    (void)sig, (void)context;
    atomic_fetch_add(&queued_sum, info->si_value.sival_int);
}

static void on_tick(int sig) {
    (void)sig;
    atomic_fetch_add(&ticks, 1);
}

/* Queued signals may not be lost: this thread blocks them, has some sent to it, and takes them. */
static unsigned long queue_signals(void) {
    sigset_t set, before;
    long want = 0;
    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN);
    pthread_sigmask(SIG_BLOCK, &set, &before);
    atomic_store(&queued_sum, 0);
    for (int i = 1; i <= QUEUED; i++) {
        union sigval value = {.sival_int = i};
        want += i;
        if (pthread_sigqueue(pthread_self(), SIGRTMIN, value))
            wrong("pthread_sigqueue: %s", strerror(errno));
    }
    if (atomic_load(&queued_sum))
        wrong("a blocked signal was delivered");
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (atomic_load(&queued_sum) != want)
        wrong("queued signals: %ld instead of %ld", atomic_load(&queued_sum), want);
    return QUEUED;
}

static void tick_all_the_time(void) {
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    struct itimerspec every = {{0, 3000000}, {0, 3000000}};
    timer_t timer;
    signal(SIGUSR1, on_tick);
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) || timer_settime(timer, 0, &every, NULL))
        wrong("timer: %s", strerror(errno));
}

/* -------------------------------------------------------------------------------------------------------------- faults */

static __thread sigjmp_buf back;
static __thread char *volatile barrier;

/* A write barrier, as collectors have it, or a way out. */
static void on_fault(int sig, siginfo_t *info, void *context) {
    (void)sig, (void)context;
    if (barrier && (char *)info->si_addr >= barrier && (char *)info->si_addr < barrier + PAGE)
        mprotect(barrier, PAGE, PROT_READ | PROT_WRITE);
    else
        siglongjmp(back, 1);
}

static unsigned long fault(void) {
    volatile char *page = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if ((void *)page == MAP_FAILED) {
        wrong("mmap: %s", strerror(errno));
        return 0;
    }
    barrier = (char *)page;
    page[100] = 'x';
    barrier = NULL;
    if (page[100] != 'x')
        wrong("a write was lost");
    char *volatile nowhere = (char *)8;
    if (!sigsetjmp(back, 1)) {
        *(volatile char *)nowhere = 1;
        wrong("a write to nowhere went through");
    }
    munmap((char *)page, PAGE);
    return 2;
}

/* ---------------------------------------------------------------------------------------------------------------- code */

/* mov eax, n; ret */
static void write_code(unsigned char *code, unsigned n) {
    code[0] = 0xb8;
    memcpy(code + 1, &n, 4);
    code[5] = 0xc3;
}

static void expect(const unsigned char *code, unsigned n) {
    unsigned got = ((unsigned (*)(void))code)();
    if (got != n)
        wrong("new code returns %u instead of %u", got, n);
}

static unsigned long change_code(void) {
    static __thread unsigned n;
    unsigned char *code = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (code == MAP_FAILED) {
        wrong("mmap: %s", strerror(errno));
        return 0;
    }
    for (int i = 0; i < 20; i++) {
        write_code(code, ++n);
        expect(code, n);
    }
    for (int i = 0; i < 20; i++) {
        mprotect(code + PAGE, PAGE, PROT_READ | PROT_WRITE);
        write_code(code + PAGE, ++n);
        mprotect(code + PAGE, PAGE, PROT_READ | PROT_EXEC);
        expect(code + PAGE, n);
    }
    munmap(code, 2 * PAGE);
    return 40;
}

static unsigned long load_library(void) {
    void *library = dlopen("libm.so.6", RTLD_NOW);
    double (*function)(double) = library ? (double (*)(double))dlsym(library, "floor") : NULL;
    if (!function || function(2.5) != 2)
        wrong("floor of a loaded library: %s", dlerror());
    if (library)
        dlclose(library);
    return 1;
}

/* ----------------------------------------------------------------------------------------------------------- processes */

static void expect_status(pid_t child, int want) {
    int status;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (status != want)
        wrong("a child ended with %x instead of %x", status, want);
}

static unsigned long start_processes(void) {
    char *const argv[] = {(char *)self, "child", NULL}, *const nowhere[] = {"/nowhere", NULL};
    pid_t child = fork();
    if (!child)
        _exit(sum_up((void *)100) ? 7 : 8);
    expect_status(child, 7 << 8);
    if (posix_spawn(&child, self, NULL, NULL, argv, environ))
        wrong("posix_spawn: %s", strerror(errno));
    else
        expect_status(child, 5 << 8);
    if (posix_spawn(&child, "/nowhere", NULL, NULL, nowhere, environ) != ENOENT)
        wrong("posix_spawn of nothing");
    return 3;
}

static unsigned long pipe_through(void) {
    char line[64] = "";
    FILE *pipe = popen("echo one two | tr a-z A-Z", "r");
    if (!pipe || !fgets(line, sizeof(line), pipe) || strcmp(line, "ONE TWO\n"))
        wrong("a pipe of two commands says '%s'", line);
    if (pipe && pclose(pipe))
        wrong("its status is not 0");
    return 1;
}

/* ---------------------------------------------------------------------------------------------------------------- all */

typedef struct Work {
    const char *name;
    unsigned long (*step)(void);
    long pause_us;
    unsigned long count;
} Work;

static Work works[] = {
    {"threads", start_threads, 1000, 0},
    {"queued signals", queue_signals, 1000, 0},
    {"faults", fault, 500, 0},
    {"code changes", change_code, 1000, 0},
    {"libraries", load_library, 5000, 0},
    {"processes", start_processes, 20000, 0},
    {"pipes", pipe_through, 50000, 0},
};
enum { WORKS = sizeof(works) / sizeof(*works) };

static void *work(void *arg) {
    Work *w = arg;
    while (!atomic_load(&done)) {
        w->count += w->step();
        nap(w->pause_us);
    }
    return NULL;
}

static void *compute(void *unused) {
    static unsigned long first;
    (void)unused;
    first = (unsigned long)sum_up((void *)2000000);
    while (!atomic_load(&done))
        if ((unsigned long)sum_up((void *)2000000) != first)
            wrong("a loop has computed something else");
    return NULL;
}

static void handle(int sig, void (*handler)(int, siginfo_t *, void *)) {
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigaction(sig, &action, NULL);
}

int main(int argc, char **argv) {
    pthread_t thread[WORKS + 1];
    self = argv[0];
    if (argc > 1 && !strcmp(argv[1], "child"))
        return 5;
    handle(SIGRTMIN, on_queued);
    handle(SIGSEGV, on_fault);
    tick_all_the_time();
    for (int i = 0; i < WORKS; i++)
        pthread_create(&thread[i], NULL, work, &works[i]);
    pthread_create(&thread[WORKS], NULL, compute, NULL);
    nap((argc > 1 ? atol(argv[1]) : 10) * 1000000);
    atomic_store(&done, true);
    for (int i = 0; i <= WORKS; i++)
        pthread_join(thread[i], NULL);
    for (int i = 0; i < WORKS; i++)
        printf("%s: %lu\n", works[i].name, works[i].count);
    printf("ticks: %lu\nerrors: %lu\n", atomic_load(&ticks), atomic_load(&errors));
    return atomic_load(&errors) > 0;
}
