/* runner.c: see runner.h. It is compiled for the host that the cases were lifted for. */
#include "runner.h"

#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

enum { TIMEOUT_S = 5 }; /* of CPU time */

typedef void Entry(void *cpu);

extern Entry *const case_entries[]; /* made beside the cases */

static _Alignas(64) unsigned char cpu[RUNNER_CPU_MAX];
static unsigned char stack[0x10000];
static sigjmp_buf before;
static RunnerAnswer answer;

static void on_signal(int number, siginfo_t *info, void *context) {
    (void)context;
    answer = (RunnerAnswer){number, info->si_code};
    siglongjmp(before, 1);
}

static void catch_signals(void) {
    static const int numbers[] = {SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV, SIGVTALRM};
    sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof(stack)}, NULL);
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    for (unsigned i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
        sigaction(numbers[i], &action, NULL);
}

static int whole(int writes, int fd, void *at, size_t size) {
    for (size_t done = 0; done < size;) {
        unsigned char *next = (unsigned char *)at + done;
        ssize_t n = writes ? write(fd, next, size - done) : read(fd, next, size - done);
        if (n <= 0)
            return 0;
        done += (size_t)n;
    }
    return 1;
}

static void set_timer(long seconds) {
    setitimer(ITIMER_VIRTUAL, &(struct itimerval){.it_value.tv_sec = seconds}, NULL);
}

static void run(uint32_t index) {
    answer = (RunnerAnswer){0};
    set_timer(TIMEOUT_S);
    if (!sigsetjmp(before, 1))
        case_entries[index](cpu);
    set_timer(0);
}

/* With nothing readable beside it. */
static unsigned char *map_memory(void) {
    size_t page = RUNNER_MEMORY_BYTES;
    unsigned char *start = (unsigned char *)(uintptr_t)RUNNER_MEMORY - page;
    if (mmap(start, 3 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != start)
        exit(99);
    mprotect(start + page, page, PROT_READ | PROT_WRITE);
    return start + page;
}

int main(void) {
    RunnerQuestion q;
    unsigned char *memory = map_memory();
    catch_signals();
    while (whole(0, 0, &q, sizeof(q)) && q.cpu_bytes <= sizeof(cpu) && whole(0, 0, cpu, q.cpu_bytes) &&
           whole(0, 0, memory, RUNNER_MEMORY_BYTES)) {
        run(q.index);
        whole(1, 1, &answer, sizeof(answer));
        whole(1, 1, cpu, q.cpu_bytes);
        whole(1, 1, memory, RUNNER_MEMORY_BYTES);
    }
    return 0;
}
