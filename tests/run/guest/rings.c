/* rings.c: io_uring by its system calls: files, pipes, waiting in a thread, signals, children, registered buffers, code that a ring reads. */
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <linux/time_types.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "await.h"

typedef struct Ring {
    int fd;
    struct io_uring_params p;
    char *sq, *cq;
    struct io_uring_sqe *sqes;
} Ring;

static int enter(Ring *r, unsigned submit, unsigned wait) {
    int n = (int)syscall(SYS_io_uring_enter, r->fd, submit, wait, wait ? IORING_ENTER_GETEVENTS : 0, NULL, 0);
    return n < 0 ? -errno : n;
}

static int ring_open(Ring *r, unsigned flags) {
    memset(r, 0, sizeof(*r));
    r->p.flags = flags;
    r->fd = (int)syscall(SYS_io_uring_setup, 8, &r->p);
    if (r->fd < 0)
        return -errno;
    size_t sq = r->p.sq_off.array + r->p.sq_entries * 4,
           cq = r->p.cq_off.cqes + r->p.cq_entries * sizeof(struct io_uring_cqe);
    r->sq = mmap(NULL, sq, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, r->fd, IORING_OFF_SQ_RING);
    r->cq = mmap(NULL, cq, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, r->fd, IORING_OFF_CQ_RING);
    r->sqes = mmap(NULL, r->p.sq_entries * sizeof(*r->sqes), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, r->fd,
                   IORING_OFF_SQES);
    return r->sq == MAP_FAILED || r->cq == MAP_FAILED || r->sqes == MAP_FAILED ? -1000 : 0;
}

/* One more request, to be submitted. */
static struct io_uring_sqe *request(Ring *r, int op, int fd, const void *addr, unsigned len, uint64_t off,
                                    uint64_t data) {
    unsigned *tail = (unsigned *)(r->sq + r->p.sq_off.tail), mask = *(unsigned *)(r->sq + r->p.sq_off.ring_mask),
             i = *tail & mask;
    struct io_uring_sqe *s = &r->sqes[i];
    memset(s, 0, sizeof(*s));
    s->opcode = (uint8_t)op, s->fd = fd, s->addr = (uintptr_t)addr, s->len = len, s->off = off, s->user_data = data;
    ((unsigned *)(r->sq + r->p.sq_off.array))[i] = i;
    __atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
    return s;
}

static int take(Ring *r, struct io_uring_cqe *c) {
    unsigned *head = (unsigned *)(r->cq + r->p.cq_off.head), mask = *(unsigned *)(r->cq + r->p.cq_off.ring_mask);
    if (*head == __atomic_load_n((unsigned *)(r->cq + r->p.cq_off.tail), __ATOMIC_ACQUIRE))
        return 0;
    *c = ((struct io_uring_cqe *)(r->cq + r->p.cq_off.cqes))[*head & mask];
    __atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
    return 1;
}

static int one(Ring *r, int op, int fd, const void *addr, unsigned len, uint64_t off) {
    struct io_uring_cqe c = {0};
    request(r, op, fd, addr, len, off, 42);
    int n = enter(r, 1, 1);
    if (n != 1 || !take(r, &c) || c.user_data != 42)
        printf("lost: %d\n", n);
    return c.res;
}

/* --------------------------------------------------------------------------------------------------------------- files */

static void files(Ring *r) {
    int fd = memfd_create("file", 0);
    char text[] = "written by a ring", back[64] = "";
    struct iovec parts[2] = {{back, 7}, {back + 30, 10}};
    printf("nop %d\n", one(r, IORING_OP_NOP, -1, NULL, 0, 0));
    printf("write %d\n", one(r, IORING_OP_WRITE, fd, text, sizeof(text), 0));
    printf("read %d", one(r, IORING_OP_READ, fd, back, sizeof(back), 3));
    printf(" %s\n", back);
    printf("readv %d", one(r, IORING_OP_READV, fd, parts, 2, 0));
    printf(" %.7s|%.10s\n", back, back + 30);
    printf("fsync %d bad %d nowhere %d\n", one(r, IORING_OP_FSYNC, fd, NULL, 0, 0),
           one(r, IORING_OP_READ, 999, back, 1, 0), one(r, IORING_OP_READ, fd, (void *)8, 8, 0));
    close(fd);
}

static void many(Ring *r) {
    uint64_t seen = 0, sum = 0;
    int fd = memfd_create("many", 0);
    static uint32_t values[512];
    struct io_uring_cqe c;
    for (uint32_t i = 0; i < 512; i++)
        values[i] = i * 2654435761u;
    write(fd, values, sizeof(values));
    memset(values, 0, sizeof(values));
    for (unsigned i = 0; i < 512; i += 8) {
        for (unsigned k = 0; k < 8; k++)
            request(r, IORING_OP_READ, fd, &values[i + k], 4, 4 * (i + k), i + k);
        enter(r, 8, 8);
        while (take(r, &c))
            seen += c.res == 4, sum += c.user_data;
    }
    for (unsigned i = 0; i < 512; i++)
        sum = sum * 31 + values[i];
    printf("many %lu %lu\n", (long)seen, (long)sum);
    close(fd);
}

static void registered(Ring *r) {
    static char buffer[4096] __attribute__((aligned(4096)));
    struct iovec v = {buffer, sizeof(buffer)};
    int fd = memfd_create("fixed", 0);
    write(fd, "fixed buffer", 12);
    printf("register %ld\n", syscall(SYS_io_uring_register, r->fd, IORING_REGISTER_BUFFERS, &v, 1));
    printf("read %d %.12s\n", one(r, IORING_OP_READ_FIXED, fd, buffer + 100, 12, 0), buffer + 100);
    printf("unregister %ld\n", syscall(SYS_io_uring_register, r->fd, IORING_UNREGISTER_BUFFERS, NULL, 0));
    close(fd);
}

/* ------------------------------------------------------------------------------------------------------------- waiting */

static int ends[2];

/* When the thread whose directory of /proc this is waits. */
static void *write_late(void *directory) {
    await_sleep((int)(long)directory);
    write(ends[1], "late", 5);
    return NULL;
}

static void waits(Ring *r) {
    pthread_t thread;
    char back[8] = "";
    pipe(ends);
    int here = proc_directory();
    pthread_create(&thread, NULL, write_late, (void *)(long)here);
    printf("pipe %d %s\n", one(r, IORING_OP_READ, ends[0], back, sizeof(back), (uint64_t)-1), back);
    pthread_join(thread, NULL);
    close(here);
    struct __kernel_timespec soon = {0, 20000000};
    printf("timeout %d\n", one(r, IORING_OP_TIMEOUT, -1, &soon, 1, 0));
}

static volatile int entering; /* the directory of the thread that enters */

static void *enters(void *arg) {
    struct io_uring_cqe c = {0};
    entering = proc_directory();
    int n = enter(arg, 0, 1);
    printf("thread %d %d\n", n, take(arg, &c) && c.res == 5);
    return arg;
}

static void waits_in_thread(Ring *r) {
    pthread_t thread;
    char back[8] = "";
    request(r, IORING_OP_READ, ends[0], back, 5, (uint64_t)-1, 1);
    printf("submitted %d\n", enter(r, 1, 0));
    pthread_create(&thread, NULL, enters, r);
    while (!entering)
        sched_yield();
    await_sleep(entering);
    write(ends[1], "next", 5);
    pthread_join(thread, NULL);
    printf("%s\n", back);
}

static volatile sig_atomic_t alarms;

static void on_alarm(int sig) {
    alarms += sig == SIGALRM;
}

static void *send_alarm(void *directory) {
    await_sleep((int)(long)directory);
    kill(getpid(), SIGALRM);
    return NULL;
}

static void interrupted(Ring *r) {
    struct sigaction a = {.sa_handler = on_alarm};
    struct io_uring_cqe c;
    pthread_t thread;
    sigset_t set;
    char back[8] = "";
    sigaction(SIGALRM, &a, NULL);
    request(r, IORING_OP_READ, ends[0], back, 5, (uint64_t)-1, 1);
    enter(r, 1, 0);
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    sigprocmask(SIG_BLOCK, &set, NULL); /* the new thread does not take it */
    int here = proc_directory();
    pthread_create(&thread, NULL, send_alarm, (void *)(long)here);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    int n = enter(r, 0, 1);
    pthread_join(thread, NULL);
    close(here);
    printf("interrupted %d %d\n", n, (int)alarms);
    write(ends[1], "last", 5);
    n = enter(r, 0, 1);
    int there = take(r, &c);
    printf("after that %d %d %s\n", n, there, back);
}

/* ------------------------------------------------------------------------------------------------- processes, and code */

static void in_child(Ring *r) {
    int status;
    fflush(stdout);
    if (!fork()) {
        Ring own;
        char never[8];
        if (ring_open(&own, 0))
            _exit(1);
        files(&own);
        request(&own, IORING_OP_READ, ends[0], never, 5, (uint64_t)-1, 1);
        enter(&own, 1, 0);
        fflush(stdout);
        _exit(6);
    }
    wait(&status);
    printf("child %x\n", status);
    printf("nop %d\n", one(r, IORING_OP_NOP, -1, NULL, 0, 0));
}

static void code(Ring *r) {
    const uint8_t returns[2][6] = {{0xb8, 11, 0, 0, 0, 0xc3}, {0xb8, 22, 0, 0, 0, 0xc3}};
    int fd = memfd_create("code", 0);
    int (*f)(void) = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    write(fd, returns, sizeof(returns));
    for (int i = 0; i < 4; i++) {
        int n = one(r, IORING_OP_READ, fd, (void *)f, 6, i % 2 * 6);
        printf("code %d %d\n", n, f());
    }
}

int main(void) {
    Ring r;
    int error = ring_open(&r, 0);
    printf("open %d\n", error);
    if (error)
        return 0;
    printf("%u %u\n", r.p.sq_entries, r.p.cq_entries);
    files(&r);
    many(&r);
    registered(&r);
    waits(&r);
    waits_in_thread(&r);
    interrupted(&r);
    in_child(&r);
    code(&r);
    return 0;
}
