/* storm.c: signals from everywhere to threads that start and end, fault, wait and handle others: none is lost, and masks stay. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum { WORKERS = 3, SIGNALS = 1500, FAULTS = 200, SHORT_LIVED = 150 };

static pthread_t worker[WORKERS];
static atomic_long sum[WORKERS], shared_count, own_count, fault_count;
static atomic_int ready, stop;
static __thread long me;
static __thread char *page;
static long page_size;

static void queued(int sig, siginfo_t *info, void *context) {
    (void)sig, (void)context;
    sum[me] += info->si_value.sival_int;
}

static void anywhere(int sig) {
    (void)sig;
    shared_count++;
}

static void own(int sig) {
    (void)sig;
    own_count++;
}

static void repair(int sig, siginfo_t *info, void *context) {
    (void)sig, (void)context;
    if ((char *)info->si_addr != page)
        _exit(9);
    fault_count++;
    mprotect(page, (size_t)page_size, PROT_READ | PROT_WRITE);
}

static int mask_is_clean(void) {
    sigset_t now, none;
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, NULL, &now);
    return sigisemptyset(&now);
}

/* Every way to be interrupted: in code, in a system call, in a handler's return, in a fault, while all is blocked. */
static void *work(void *arg) {
    me = (long)arg;
    page = mmap(NULL, (size_t)page_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ready++;
    sigset_t all, before;
    sigfillset(&all);
    for (int i = 0; !stop || i < FAULTS; i++) {
        if (i < FAULTS) {
            mprotect(page, (size_t)page_size, PROT_NONE);
            *(volatile char *)page += 1;
        }
        pthread_kill(pthread_self(), SIGUSR1);
        poll(NULL, 0, i % 2);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        for (volatile int n = 0; n < 500; n++)
            ;
    }
    return (void *)(long)mask_is_clean();
}

static void block_anywhere(int how) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN + 1);
    pthread_sigmask(how, &set, NULL);
}

static void *end_soon(void *arg) {
    block_anywhere(SIG_UNBLOCK);
    *(int *)arg += mask_is_clean();
    return NULL;
}

static int start_and_end(void) {
    int clean = 0;
    block_anywhere(SIG_BLOCK);
    for (int i = 0; i < SHORT_LIVED; i++) {
        pthread_t id;
        pthread_create(&id, NULL, end_soon, &clean);
        while (sigqueue(getpid(), SIGRTMIN + 1, (union sigval){.sival_int = 1}) && errno == EAGAIN)
            usleep(100);
        pthread_join(id, NULL);
    }
    while (shared_count < SHORT_LIVED)
        usleep(1000);
    return clean;
}

static void install(int sig, void (*simple)(int), void (*informed)(int, siginfo_t *, void *)) {
    struct sigaction action = {.sa_flags = informed ? SA_SIGINFO : 0};
    if (informed)
        action.sa_sigaction = informed;
    else
        action.sa_handler = simple;
    sigaction(sig, &action, NULL);
}

int main(void) {
    page_size = sysconf(_SC_PAGESIZE);
    install(SIGRTMIN, NULL, queued);
    install(SIGRTMIN + 1, anywhere, NULL);
    install(SIGUSR1, own, NULL);
    install(SIGSEGV, NULL, repair);
    for (long i = 0; i < WORKERS; i++)
        pthread_create(&worker[i], NULL, work, (void *)i);
    while (ready < WORKERS)
        usleep(1000);
    long expected[WORKERS] = {0};
    int clean = 0;
    for (int i = 1; i <= SIGNALS; i++) {
        while (pthread_sigqueue(worker[i % WORKERS], SIGRTMIN, (union sigval){.sival_int = i}) == EAGAIN)
            usleep(100);
        expected[i % WORKERS] += i;
        if (i == SIGNALS / 2)
            clean = start_and_end();
    }
    stop = 1;
    for (int i = 0; i < WORKERS; i++) {
        void *mask_clean;
        pthread_join(worker[i], &mask_clean);
        printf("worker %d: all received %d, mask clean %ld\n", i, sum[i] == expected[i], (long)mask_clean);
    }
    printf("to the process: %ld of %d, short threads with a clean mask: %d\n", (long)shared_count, SHORT_LIVED, clean);
    printf("faults: %ld, own: %d\n", (long)fault_count, own_count >= WORKERS * FAULTS);
    return 0;
}
