/* sandbox.c: filters by libseccomp: a program that may do nothing but what it needs. */
#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static void allow(scmp_filter_ctx ctx, int call) {
    if (seccomp_rule_add(ctx, SCMP_ACT_ALLOW, call, 0))
        abort();
}

static scmp_filter_ctx make(uint32_t usual) {
    const int needed[] = {SCMP_SYS(exit_group), SCMP_SYS(brk),        SCMP_SYS(mmap),
                          SCMP_SYS(munmap),     SCMP_SYS(newfstatat), SCMP_SYS(rt_sigreturn)};
    scmp_filter_ctx ctx = seccomp_init(usual);
    for (size_t i = 0; i < sizeof(needed) / sizeof(*needed); i++)
        allow(ctx, needed[i]);
    seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(write), 1, SCMP_A0(SCMP_CMP_LE, 2));
    seccomp_rule_add(ctx, SCMP_ACT_ERRNO(EMLINK), SCMP_SYS(socket), 1, SCMP_A0(SCMP_CMP_EQ, AF_INET));
    seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(openat), 1, SCMP_A2(SCMP_CMP_MASKED_EQ, O_ACCMODE, O_RDONLY));
    seccomp_rule_add(ctx, SCMP_ACT_ERRNO(EROFS), SCMP_SYS(openat), 1, SCMP_A2(SCMP_CMP_MASKED_EQ, O_ACCMODE, O_RDWR));
    return ctx;
}

static void run(uint32_t usual, int optimised) {
    scmp_filter_ctx ctx = make(usual);
    if (optimised)
        seccomp_attr_set(ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2);
    printf("load %d\n", seccomp_load(ctx));
    printf("socket %d", socket(AF_INET, SOCK_STREAM, 0));
    printf(" %d\n", errno);
    printf("read %d\n", open("/dev/null", O_RDONLY) >= 0);
    printf("write %d", open("/dev/null", O_RDWR));
    printf(" %d\n", errno);
    fflush(stdout);
    printf("elsewhere %zd", write(9, "x", 1));
    printf(" %d\n", errno);
    fflush(stdout);
    exit(getppid() > 0 ? 3 : 4);
}

int main(void) {
    const uint32_t usual[] = {SCMP_ACT_KILL_PROCESS, SCMP_ACT_KILL_THREAD, SCMP_ACT_ERRNO(E2BIG), SCMP_ACT_TRAP,
                              SCMP_ACT_LOG};
    for (size_t i = 0; i < 2 * sizeof(usual) / sizeof(*usual); i++) {
        int status;
        fflush(stdout);
        if (!fork())
            run(usual[i / 2], i % 2);
        wait(&status);
        printf("%s %d\n", WIFEXITED(status) ? "status" : "signal",
               WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
    }
    return 0;
}
