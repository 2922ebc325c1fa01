/* int80.c: system calls of 32-bit x86, which 64-bit programs can make, too: of each register 32 bits count, and all others keep theirs. */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    EXIT = 1,
    FORK = 2,
    READ = 3,
    WRITE = 4,
    OPEN = 5,
    CLOSE = 6,
    WAITPID = 7,
    TIME = 13,
    LSEEK = 19,
    GETPID = 20,
    PAUSE = 29,
    PIPE = 42,
    MPROTECT = 125,
    MUNMAP = 91,
    MMAP2 = 192,
    GETUID32 = 199,
    NONE = 9999
};

static long call(long number, long a, long b, long c, long d, long e, long f) {
    register long bp __asm__("r12") = f;
    __asm__ volatile("push %%rbp\n mov %%r12, %%rbp\n int $0x80\n pop %%rbp"
                     : "+a"(number)
                     : "b"(a), "c"(b), "d"(c), "S"(d), "D"(e), "r"(bp)
                     : "memory", "cc");
    return number;
}

#define CALL3(number, a, b, c) call(number, (long)(a), (long)(b), (long)(c), 0, 0, 0)

static char *low; /* a page below 4 GiB */

static void registers(void) {
    unsigned long r[7];
    __asm__ volatile(
        "mov $0x1111111111111111, %%r8\n mov $0x2222222222222222, %%r9\n mov $0x3333333333333333, %%r10\n"
        "mov $0x4444444444444444, %%r11\n mov $0xaaaaaaaabbbbbbbb, %%rcx\n mov $0x5555555566666666, %%rdx\n stc\n"
        "mov $0x7777777700000006, %%rax\n mov $0x88888888ffffffff, %%rbx\n int $0x80\n sbb %%rbx, %%rbx\n"
        "mov %%r8, 0(%0)\n mov %%r9, 8(%0)\n mov %%r10, 16(%0)\n mov %%r11, 24(%0)\n mov %%rcx, 32(%0)\n mov %%rdx, "
        "40(%0)\n"
        "mov %%rax, 48(%0)\n"
        :
        : "D"(r)
        : "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "memory", "cc");
    for (int i = 0; i < 7; i++)
        printf("%lx ", r[i]);
    printf("\n");
}

static void memory(void) {
    low = (char *)call(MMAP2, 0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    printf("low %d\n", (unsigned long)low < 1ul << 32 && (unsigned long)low >= 4096);
    printf("munmap %ld mprotect %ld\n", CALL3(MUNMAP, low + 4096, 4096, 0),
           CALL3(MPROTECT, low + 4096, 4096, PROT_READ));
}

static void files(void) {
    strcpy(low, "file");
    long fd = CALL3(OPEN, low, 0x42, 0600);
    strcpy(low, "a line\n");
    printf("write %ld\n", CALL3(WRITE, fd + (1ul << 40), low + (1ul << 33), 7));
    printf("lseek %ld %ld\n", CALL3(LSEEK, fd, -5, SEEK_END), CALL3(LSEEK, fd, -50, SEEK_END));
    printf("read %ld: %.5s", CALL3(READ, fd, low + 100, 20), low + 100);
    printf("close %ld %ld\n", CALL3(CLOSE, fd, 0, 0), CALL3(CLOSE, fd, 0, 0));
    printf("pid %d uid %d none %ld\n", CALL3(GETPID, 0, 0, 0) == getpid(), CALL3(GETUID32, 0, 0, 0) == getuid(),
           CALL3(NONE, 0, 0, 0));
    unlink("file");
}

static void processes(void) {
    long child = CALL3(FORK, 0, 0, 0);
    if (!child)
        CALL3(EXIT, 5, 0, 0);
    int *status = (int *)low;
    printf("waitpid %d", CALL3(WAITPID, child, status, 0) == child);
    printf(" %d\n", WEXITSTATUS(*status));
}

static void on_signal(int sig) {
    (void)sig;
}

/* A handler that has the call made again, and one that has not. */
static void signals(void) {
    struct sigaction action = {.sa_handler = on_signal};
    struct itimerval soon = {.it_value = {.tv_usec = 20000}};
    int *ends = (int *)low;
    sigaction(SIGALRM, &action, NULL);
    CALL3(PIPE, ends, 0, 0);
    setitimer(ITIMER_REAL, &soon, NULL);
    printf("read %ld\n", CALL3(READ, ends[0], low + 100, 1));
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, NULL);
    if (!fork()) {
        usleep(100000);
        write(ends[1], "x", 1);
        _exit(0);
    }
    setitimer(ITIMER_REAL, &soon, NULL);
    printf("read again %ld\n", CALL3(READ, ends[0], low + 100, 1));
    wait(NULL);
}

/* A filter sees that they are 32-bit ones. */
static void filtered(void) {
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 77),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {4, code};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    printf("filter %d\n", prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
    printf("filtered %ld, not %d\n", CALL3(GETPID, 0, 0, 0), getpid() > 0);
}

/* With any argument: calls that Lathe does not have. */
int main(int argc, char **argv) {
    (void)argv;
    setvbuf(stdout, NULL, _IONBF, 0);
    if (argc > 1)
        return CALL3(TIME, 0, 0, 0) == -ENOSYS && CALL3(TIME, 0, 0, 0) == -ENOSYS ? 38 : 0;
    registers();
    memory();
    files();
    processes();
    signals();
    filtered();
    return 0;
}
