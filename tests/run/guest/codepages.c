/* codepages.c: memory that is writable and executable, with code that has run, as the kernel changes it or writes to it. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE_BYTES = 4096, ALL = PROT_READ | PROT_WRITE | PROT_EXEC };

static uint8_t *pages(int count) {
    return mmap(NULL, (size_t)count * PAGE_BYTES, ALL, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/* mov $value, %eax; ret */
static int run(uint8_t *at, int value) {
    at[0] = 0xb8;
    memcpy(at + 1, &value, 4);
    at[5] = 0xc3;
    return ((int (*)(void))(uintptr_t)at)();
}

static void protect_again(void) {
    uint8_t *p = pages(1);
    for (int i = 0; i < 4; i++) {
        printf("protect %d\n", run(p, i));
        mprotect(p, PAGE_BYTES, ALL);
    }
}

static void resize(int count) {
    uint8_t *p = pages(count), *last = p + (count - 1) * PAGE_BYTES;
    run(last, 1);
    uint8_t *q = mremap(p, (size_t)count * PAGE_BYTES, 8 * PAGE_BYTES, MREMAP_MAYMOVE);
    printf("resize %d %d\n", q != MAP_FAILED, q == MAP_FAILED ? 0 : run(q + (count - 1) * PAGE_BYTES, 2));
}

static void answers(void) {
    uint8_t *p = pages(1), *data = p + PAGE_BYTES / 2;
    run(p, 1);
    printf("stat %ld\n", syscall(SYS_stat, "/", data));
    run(p, 1);
    printf("mask %ld\n", syscall(SYS_rt_sigprocmask, 0, NULL, data, 8));
    run(p, 1);
    pid_t child = fork();
    if (!child)
        _exit(7);
    printf("wait %d", syscall(SYS_wait4, child, data, 0, NULL) == child);
    printf(" %d\n", WEXITSTATUS(*(int *)data));
}

static void transfers(void) {
    static char text[2 * PAGE_BYTES];
    uint8_t *p = pages(2);
    int ends[2];
    if (pipe(ends))
        return;
    write(ends[1], text, sizeof(text));
    run(p + PAGE_BYTES, 1);
    printf("pipe %zd\n", read(ends[0], p, sizeof(text)));
    socketpair(AF_UNIX, SOCK_DGRAM, 0, ends);
    write(ends[1], text, 3);
    run(p, 1);
    alarm(10);
    printf("message %zd\n", read(ends[0], p + 100, 100));
}

int main(void) {
    protect_again();
    resize(1);
    resize(2);
    answers();
    transfers();
    return 0;
}
