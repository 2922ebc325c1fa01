/* holes.c: what the program has unmapped, or never had, is not there: for its own accesses, for system calls, and for mappings at fixed
 * addresses. Whatever runs the program keeps its own memory out of sight. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { PAGE = 4096, AROUND = 16 << 20 };

static sigjmp_buf back;

static void jump_back(int sig) {
    siglongjmp(back, sig);
}

static void ignore(int sig) {
    (void)sig;
}

static const char *error_name(long result) {
    return result >= 0       ? "no error"
           : errno == EFAULT ? "EFAULT"
           : errno == ENOMEM ? "ENOMEM"
           : errno == EINVAL ? "EINVAL"
                             : strerror(errno);
}

/* Calls for which a translator may need memory of its own. */
static void do_other_things(void) {
    for (int sig = SIGRTMIN; sig < SIGRTMIN + 8; sig++)
        signal(sig, ignore);
    int fd = open("/proc/self/maps", O_RDONLY);
    char text[512];
    if (read(fd, text, sizeof(text)) < 0)
        abort();
    close(fd);
}

/* Prints nothing if all is well: how many holes are tried is no matter. */
static void store_into_hole(size_t size) {
    char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(p, size);
    do_other_things();
    signal(SIGSEGV, jump_back);
    if (!sigsetjmp(back, 1)) {
        *(volatile char *)p = 1;
        printf("%zu bytes: a store into memory that was unmapped\n", size);
    }
    signal(SIGSEGV, SIG_DFL);
    if (mmap(p, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != p)
        printf("%zu bytes: not mapped at a fixed address: %s\n", size, strerror(errno));
    munmap(p, size);
}

/* Is the page in the program's list of its mappings? */
static int is_listed(uintptr_t addr, const char *maps) {
    for (const char *line = maps; line && *line; line = strchr(line, '\n'), line += line != NULL) {
        char *rest;
        uintptr_t start = strtoul(line, &rest, 16), end = strtoul(rest + 1, NULL, 16);
        if (addr >= start && addr < end)
            return 1;
    }
    return 0;
}

static char *read_maps(void) {
    static char text[1 << 20];
    int fd = open("/proc/self/maps", O_RDONLY);
    size_t len = 0;
    for (ssize_t n; (n = read(fd, text + len, sizeof(text) - 1 - len)) > 0;)
        len += (size_t)n;
    close(fd);
    text[len] = 0;
    return text;
}

/* Every page near a mapping that is not in the list cannot be read by the kernel either. */
static void look_around(void) {
    int fds[2], found = 0;
    char *middle = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const char *maps = read_maps();
    if (pipe2(fds, O_NONBLOCK))
        abort();
    for (char *p = middle - AROUND; p < middle + AROUND; p += PAGE)
        if (!is_listed((uintptr_t)p, maps)) {
            found += write(fds[1], p, 1) >= 0;
            found += msync(p, PAGE, MS_ASYNC) == 0;
        }
    printf("pages that are not listed, but there: %d\n", found);
    close(fds[0]);
    close(fds[1]);
}

#define SHOW(call) (errno = 0, printf("    %s: %s\n", #call, error_name(call)))

/* A place that no program has, and that Lathe has in use. */
static void name_foreign_memory(void) {
    char *p = (char *)0x565600001000, vector[1];
    int zero = open("/dev/zero", O_RDWR), null = open("/dev/null", O_WRONLY), fds[2];
    if (pipe(fds))
        abort();
    SHOW(read(zero, p, 16));
    SHOW(read(zero, p, 0));
    SHOW(write(fds[1], p, 16));
    SHOW(open(p, O_RDONLY));
    SHOW(syscall(SYS_clock_gettime, 0, p));
    SHOW(syscall(SYS_futex, p, FUTEX_WAKE, 1, NULL, NULL, 0));
    SHOW(syscall(SYS_rt_sigprocmask, SIG_BLOCK, p, NULL, 8));
    SHOW(syscall(SYS_getcwd, p, 100));
    SHOW(syscall(SYS_getrandom, p, 16, 0));
    SHOW(madvise(p, PAGE, MADV_DONTNEED));
    SHOW(mprotect(p, PAGE, PROT_READ));
    SHOW((long)mremap(p, PAGE, 2 * PAGE, MREMAP_MAYMOVE) == -1 ? -1 : 0);
    SHOW(munmap(p, PAGE));
    SHOW(msync(p, PAGE, MS_SYNC));
    SHOW(mincore(p, PAGE, (unsigned char *)vector));
    SHOW(mlock(p, PAGE));
    SHOW(munlock(p, PAGE));
    close(zero);
    close(null);
    close(fds[0]);
    close(fds[1]);
}

/* The same in lists and messages, of which other parts are good. */
static void name_it_in_memory(void) {
    char *p = (char *)0x565600001000, good[16] = "", far[16];
    struct iovec bad = {p, 8}, mixed[] = {{good, 8}, {p, 8}}, here = {far, 8}, many[40];
    int zero = open("/dev/zero", O_RDWR), fds[2], pair[2];
    for (int i = 0; i < 40; i++)
        many[i] = (struct iovec){i == 30 ? p : good, 8};
    if (pipe(fds) || socketpair(AF_UNIX, SOCK_DGRAM, 0, pair))
        abort();
    SHOW(readv(zero, &bad, 1));
    SHOW(preadv(zero, &bad, 1, 0));
    SHOW(writev(fds[1], &bad, 1));
    SHOW(readv(zero, (struct iovec *)p, 1));
    SHOW(readv(zero, (struct iovec *)16, 1));
    printf("    of two %zd, of forty %zd\n", readv(zero, mixed, 2), readv(zero, many, 40));
    printf("    both written %zd\n", writev(fds[1], mixed, 2));
    SHOW(process_vm_readv(getpid(), &here, 1, &bad, 1, 0));
    SHOW(process_vm_writev(getpid(), &here, 1, &bad, 1, 0));
    SHOW(process_vm_readv(getpid(), &bad, 1, &here, 1, 0));
    struct msghdr message = {.msg_iov = &bad, .msg_iovlen = 1};
    SHOW(sendmsg(pair[0], &message, 0));
    message = (struct msghdr){.msg_iov = &here, .msg_iovlen = 1, .msg_control = p, .msg_controllen = 64};
    SHOW(sendmsg(pair[0], &message, 0));
    message = (struct msghdr){.msg_iov = &here, .msg_iovlen = 1};
    SHOW(sendmsg(pair[0], &message, 0));
    message = (struct msghdr){.msg_iov = &bad, .msg_iovlen = 1, .msg_name = far, .msg_namelen = sizeof(far)};
    SHOW(recvmsg(pair[1], &message, 0));
    sendmsg(pair[0], &(struct msghdr){.msg_iov = &here, .msg_iovlen = 1}, 0);
    here.iov_len = 2;
    message =
        (struct msghdr){.msg_iov = &here, .msg_iovlen = 1, .msg_control = p, .msg_controllen = 64, .msg_flags = 77};
    ssize_t n = recvmsg(pair[1], &message, 0);
    printf("    received %zd, %zu of control, flags %x\n", n, message.msg_controllen, message.msg_flags);
    printf("    the addresses stay: %d\n", message.msg_control == p && message.msg_iov == &here);
    close(zero);
    close(fds[0]);
    close(fds[1]);
    close(pair[0]);
    close(pair[1]);
}

/* The kernel goes on behind a hole with these two, and says that there was one. */
static void advise_around_holes(void) {
    char *p = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(p, 7, 3 * PAGE);
    munmap(p + PAGE, PAGE);
    SHOW(madvise(p, 3 * PAGE, MADV_DONTNEED));
    printf("%d %d\n", p[0], p[2 * PAGE]);
    char *start = sbrk(0);
    sbrk(PAGE);
    memset(start, 7, PAGE);
    uintptr_t first = ((uintptr_t)start + PAGE - 1) & -(uintptr_t)PAGE;
    SHOW(msync((void *)first, 64 * PAGE, MS_ASYNC));
    SHOW(mincore((void *)(first + 32 * PAGE), PAGE, (unsigned char *)p));
}

int main(void) {
    for (size_t size = PAGE; size <= 4 << 20; size *= 2)
        store_into_hole(size);
    look_around();
    name_foreign_memory();
    name_it_in_memory();
    advise_around_holes();
    return 0;
}
