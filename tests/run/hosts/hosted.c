/* hosted.c: what differs between kinds of hosts: numbers and structures of system calls, flags of open, signal frames, faults, threads, processes, numbers with a fraction, exchanges of pairs. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int shown(const char *what, long result) {
    return printf("%s: %ld %s\n", what, result, result < 0 ? strerror(errno) : "");
}

static void files(void) {
    struct stat st;
    shown("a file as a directory", open("/proc/self/exe", O_RDONLY | O_DIRECTORY));
    shown("a link", open("/proc/self/cwd", O_RDONLY | O_NOFOLLOW));
    int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    shown("status flags", fcntl(fd, F_GETFL) & (O_ACCMODE | O_DIRECTORY | O_NOFOLLOW));
    printf("stat: %d, %o, %d\n", fstat(fd, &st), st.st_mode, (int)(st.st_rdev >> 8));
    int ends[2], waits = epoll_create1(0);
    struct epoll_event in = {.events = EPOLLIN, .data.u64 = 0x1234567890}, out[2];
    shown("pipe", pipe(ends));
    shown("epoll_ctl", epoll_ctl(waits, EPOLL_CTL_ADD, ends[0], &in));
    shown("write", write(ends[1], "x", 1));
    shown("epoll_wait", epoll_wait(waits, out, 2, 1000));
    printf("its data: %llx\n", (unsigned long long)out[0].data.u64);
    shown("epoll_ctl without an event", epoll_ctl(waits, EPOLL_CTL_DEL, ends[0], (struct epoll_event *)1));
#ifdef MAP_32BIT
    void *low = mmap(NULL, 0x50000000, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_32BIT, -1, 0);
    shown("too much at low addresses", low == MAP_FAILED ? -1 : 0);
#endif
}

static volatile sig_atomic_t arrived;
static sigjmp_buf back;
static void *fault_at;

static void on_signal(int sig, siginfo_t *info, void *context) {
    (void)context;
    arrived++;
    if (sig != SIGSEGV)
        return;
    fault_at = info->si_addr;
    siglongjmp(back, info->si_code);
}

static void install(int sig) {
    struct sigaction a = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
    sigaction(sig, &a, NULL);
}

static void signals(void) {
    install(SIGUSR1);
    install(SIGALRM);
    for (int i = 0; i < 3; i++)
        raise(SIGUSR1);
    struct timespec long_time = {10, 0};
    alarm(1);
    int result = nanosleep(&long_time, NULL);
    printf("signals: %d, nanosleep %d %s\n", (int)arrived, result, strerror(errno));
}

static void faults(void) {
    char *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    volatile int kept = 1;
    install(SIGSEGV);
    int code = sigsetjmp(back, 1);
    if (!code) {
        kept = 2;
        page[5] = 1;
    }
    printf("a write to what is read-only: code %d, at its byte %d, kept %d\n", code, (int)((char *)fault_at - page),
           kept);
    code = sigsetjmp(back, 1);
    if (!code)
        kept = *(volatile int *)16;
    printf("a read where nothing is: code %d, at %ld\n", code, (long)fault_at);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long sum;
static __thread long own;

static void *add(void *step) {
    for (int i = 0; i < 1000; i++) {
        own += (long)step;
        pthread_mutex_lock(&mutex);
        sum += (long)step;
        pthread_mutex_unlock(&mutex);
    }
    return (void *)own;
}

static void threads(void) {
    pthread_t thread[4];
    void *result;
    long all = 0;
    for (long i = 0; i < 4; i++)
        pthread_create(&thread[i], NULL, add, (void *)(i + 1));
    for (int i = 0; i < 4; i++) {
        pthread_join(thread[i], &result);
        all += (long)result;
    }
    printf("threads: %ld %ld %ld\n", sum, all, own);
}

static void processes(void) {
    int status = 0;
    fflush(stdout);
    pid_t child = fork();
    if (!child)
        _exit(7);
    waitpid(child, &status, 0);
    printf("a child: %d\n", WEXITSTATUS(status));
}

static void fractions(void) {
    volatile double one = 1, three = 3, big = 1e300;
    volatile float small = 0.1f;
    printf("fractions: %.17g %.9g %g %d %d\n", one / three, small * 3, big * big, (int)-big, (int)(three - 0.5));
    volatile double rounded[] = {2.5, -0.25, 3.5, -1e300,
                                 __builtin_nan("")}; /* the sign of a NaN that is made may differ */
    for (int i = 0; i < 5; i++)
        printf("rounded: %g %g\n", nearbyint(rounded[i]), nearbyintf((float)rounded[i]));
    printf("rounded: %ld %ld\n", lrint(rounded[0]), lrintf((float)rounded[2]));
}

/* Exchanges of 128 bits at once, which not every host has. */
static void pairs(void) {
#ifdef __aarch64__
    __attribute__((aligned(16))) unsigned long pair[2] = {1, 2};
    unsigned long low, high, failed;
    __asm__ volatile(
        "1:\tldaxp %0, %1, [%3]\n\tadd %0, %0, #10\n\tsub %1, %1, #5\n\tstlxp %w2, %0, %1, [%3]\n\tcbnz %w2, 1b"
        : "=&r"(low), "=&r"(high), "=&r"(failed)
        : "r"(pair)
        : "memory");
    printf("a pair: %lu %ld\n", pair[0], (long)pair[1]);
    for (unsigned long expected = 12; expected-- > 10;) {
        register unsigned long x2 __asm__("x2") = expected, x3 __asm__("x3") = -3, x4 __asm__("x4") = 7,
                                  x5 __asm__("x5") = 8;
        __asm__ volatile(".arch_extension lse\n\tcaspal x2, x3, x4, x5, [%2]"
                         : "+r"(x2), "+r"(x3)
                         : "r"(pair), "r"(x4), "r"(x5)
                         : "memory");
        printf("an exchange: %lu %ld, then %lu %ld\n", x2, (long)x3, pair[0], (long)pair[1]);
    }
#endif
}

int main(void) {
    files();
    fractions();
    pairs();
    processes();
    signals();
    threads();
    faults();
    return 5;
}
