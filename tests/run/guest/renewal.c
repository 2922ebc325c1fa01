/* renewal.c: threads that make new code all the time, far more than any memory for translations holds at once, while others loop,
 * wait and start threads. */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ROUNDS = 5000, SIZE = 4096, INSNS = 1000 };

static volatile int done;
static volatile sig_atomic_t signals;

static void on_signal(int sig) {
    (void)sig;
    signals++;
}

/* mov eax, n; then 1 is added INSNS times; ret */
static size_t make(unsigned char *code, unsigned n) {
    size_t at = 0;
    code[at++] = 0xb8;
    memcpy(code + at, &n, 4);
    at += 4;
    for (int i = 0; i < INSNS; i++) {
        memcpy(code + at, "\x83\xc0\x01", 3); /* add eax, 1 */
        at += 3;
    }
    code[at++] = 0xc3;
    return at;
}

static void *rewrite(void *unused) {
    unsigned char *code = mmap(NULL, SIZE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    unsigned long sum = 0, wrong = 0;
    (void)unused;
    for (unsigned i = 0; i < ROUNDS; i++) {
        make(code, i);
        unsigned got = ((unsigned (*)(void))code)();
        wrong += got != i + INSNS;
        sum += got;
    }
    while (!signals) /* the thread that sends them may be late */
        sched_yield();
    munmap(code, SIZE);
    return (void *)(wrong ? 0 : sum);
}

static void *loop(void *unused) {
    unsigned long n = 0;
    sigset_t all;
    (void)unused;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    while (!done)
        n++;
    return (void *)(unsigned long)(n > 0);
}

static void *wait_for_byte(void *ends) {
    char byte = 0;
    ssize_t n = read(((int *)ends)[0], &byte, 1);
    return (void *)(unsigned long)(n == 1 && byte == 'x');
}

static void *nothing(void *unused) {
    return unused;
}

int main(void) {
    pthread_t writers[2], others[2];
    int ends[2];
    void *result;
    setvbuf(stdout, NULL, _IONBF, 0);
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigaction(SIGUSR1, &action, NULL);
    if (pipe(ends))
        return 1;
    pthread_create(&others[0], NULL, loop, NULL);
    pthread_create(&others[1], NULL, wait_for_byte, ends);
    for (int i = 0; i < 2; i++)
        pthread_create(&writers[i], NULL, rewrite, NULL);
    for (int i = 0; i < 200; i++) {
        pthread_t brief;
        pthread_create(&brief, NULL, nothing, NULL);
        pthread_kill(writers[i % 2], SIGUSR1);
        pthread_join(brief, NULL);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(writers[i], &result);
        printf("writer %d: %lu\n", i, (unsigned long)result);
    }
    done = 1;
    if (write(ends[1], "x", 1) != 1)
        return 1;
    for (int i = 0; i < 2; i++) {
        pthread_join(others[i], &result);
        printf("other %d: %lu\n", i, (unsigned long)result);
    }
    printf("signals: %d\n", signals > 0);
    return 0;
}
