/* ringpoll.c: epoll by requests of io_uring, as event loops do it: several in one call, and with a wait. */
#include <errno.h>
#include <linux/io_uring.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static int ring;
static struct io_uring_params p;
static char *sq, *cq;
static struct io_uring_sqe *requests;

static void request(int epoll, int op, int fd, struct epoll_event *event, uint64_t data) {
    unsigned *tail = (unsigned *)(sq + p.sq_off.tail), i = *tail & *(unsigned *)(sq + p.sq_off.ring_mask);
    requests[i] = (struct io_uring_sqe){.opcode = IORING_OP_EPOLL_CTL,
                                        .fd = epoll,
                                        .len = (unsigned)op,
                                        .off = (unsigned)fd,
                                        .addr = (uintptr_t)event,
                                        .user_data = data};
    ((unsigned *)(sq + p.sq_off.array))[i] = i;
    __atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
}

static void answers(void) {
    unsigned *head = (unsigned *)(cq + p.cq_off.head), mask = *(unsigned *)(cq + p.cq_off.ring_mask);
    while (*head != __atomic_load_n((unsigned *)(cq + p.cq_off.tail), __ATOMIC_ACQUIRE)) {
        struct io_uring_cqe *c = &((struct io_uring_cqe *)(cq + p.cq_off.cqes))[*head & mask];
        printf("  request %d: %d\n", (int)c->user_data, c->res);
        __atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
    }
}

static void enter(unsigned count, unsigned wait) {
    printf("enter: %ld\n", syscall(SYS_io_uring_enter, ring, count, wait, wait ? IORING_ENTER_GETEVENTS : 0, NULL, 0));
    answers();
}

static void events(int epoll) {
    struct epoll_event e[8];
    int n = epoll_wait(epoll, e, 8, 0);
    printf("%d events\n", n);
    for (int i = 0; i < n; i++)
        printf("  %x %lx\n", e[i].events, (unsigned long)e[i].data.u64);
}

int main(void) {
    ring = (int)syscall(SYS_io_uring_setup, 4, &p);
    if (ring < 0)
        return printf("no io_uring: %s\n", strerror(errno)), 0;
    sq = mmap(NULL, p.sq_off.array + p.sq_entries * 4, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQ_RING);
    cq = mmap(NULL, p.cq_off.cqes + p.cq_entries * 16, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_CQ_RING);
    requests = mmap(NULL, p.sq_entries * sizeof(*requests), PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQES);
    int epoll = epoll_create1(0), a[2], b[2];
    pipe(a), pipe(b);
    write(a[1], "x", 1), write(b[1], "x", 1);
    struct epoll_event first = {EPOLLIN, {.u64 = 0x1122334455667788}},
                       second = {EPOLLIN | EPOLLET, {.u64 = 0x99aabbccddeeff00}};
    request(epoll, EPOLL_CTL_ADD, a[0], &first, 1);
    request(epoll, EPOLL_CTL_ADD, b[0], &second, 2);
    enter(2, 2);
    events(epoll);
    first.data.u64 = 0xfedcba9876543210;
    request(epoll, EPOLL_CTL_MOD, a[0], &first, 3);
    printf("address kept: ");
    enter(1, 0);
    printf("%d\n", requests[2].addr == (uintptr_t)&first);
    request(epoll, EPOLL_CTL_ADD, a[0], &first, 4);
    request(epoll, EPOLL_CTL_DEL, b[0], NULL, 5);
    request(epoll, EPOLL_CTL_ADD, b[0], (void *)8, 6);
    enter(3, 3);
    events(epoll);
    struct {
        struct io_uring_probe head;
        struct io_uring_probe_op ops[64];
    } probe = {0};
    long result = syscall(SYS_io_uring_register, ring, IORING_REGISTER_PROBE, &probe, 40);
    printf("probe: %ld %d\n", result, probe.ops[IORING_OP_EPOLL_CTL].flags);
    return 0;
}
