/* unseen.c: system calls that wait, or that move more than fits at a time, while signals of the translator's own come: nothing of these may be seen.
 * Each line is what a call has answered; times are only compared with their limits. Natively no signal comes but the program's own. */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "await.h"

enum { MS = 1000000, SHORT_MS = 40, PART = 1 << 20 };

static const struct timespec brief = {0, SHORT_MS *MS};
static struct timespec begun;

static long passed_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (now.tv_sec - begun.tv_sec) * 1000 + (now.tv_nsec - begun.tv_nsec) / MS;
}

static void start(void) {
    clock_gettime(CLOCK_MONOTONIC, &begun);
}

/* With the errno of a result that is -1. */
static void tell(const char *what, long result) {
    printf("%s: %ld %s\n", what, result, result < 0 ? strerrorname_np(errno) : "");
    fflush(stdout);
}

/* A wait that had to end because its time was over. */
static void tell_wait(const char *what, long result) {
    int error = errno;
    long ms = passed_ms();
    printf("%s: %ld %s%s\n", what, result, result < 0 ? strerrorname_np(error) : "",
           ms + 1 < SHORT_MS ? ", too early" : "");
    fflush(stdout);
}

/* A child that does something when its parent waits. */
static pid_t later(void (*does)(int), int argument) {
    int here = proc_directory();
    pid_t child = fork();
    if (child) {
        close(here);
        return child;
    }
    await_sleep(here);
    does(argument);
    _exit(0);
}

static void reap(pid_t child) {
    int status = -1;
    if (waitpid(child, &status, 0) != child || status)
        printf("child: %x\n", status);
}

/* ------------------------------------------------------------------------------------------------------------ time limits */

static void sleeps(void) {
    struct timespec left = {7, 7};
    start(), tell_wait("nanosleep", nanosleep(&brief, &left));
    start(), tell_wait("clock_nanosleep", clock_nanosleep(CLOCK_BOOTTIME, 0, &brief, &left));
    struct timespec until;
    start();
    until = begun;
    until.tv_nsec += SHORT_MS * MS;
    until.tv_sec += until.tv_nsec / 1000000000, until.tv_nsec %= 1000000000;
    tell_wait("absolute", clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL));
}

static void polls(void) {
    int ends[2], events = epoll_create1(0);
    pipe(ends);
    struct pollfd p = {ends[0], POLLIN};
    struct epoll_event e = {.events = EPOLLIN};
    epoll_ctl(events, EPOLL_CTL_ADD, ends[0], &e);
    fd_set set;
    struct timeval tv = {0, SHORT_MS * 1000};
    struct timespec ts = brief;
    start(), tell_wait("poll", poll(&p, 1, SHORT_MS));
    start(), tell_wait("ppoll", ppoll(&p, 1, &brief, NULL));
    start(), tell_wait("ppoll itself", syscall(SYS_ppoll, &p, 1, &ts, NULL, 8));
    printf("left %ld\n", (long)(ts.tv_sec + ts.tv_nsec));
    FD_ZERO(&set);
    FD_SET(ends[0], &set);
    start(), tell_wait("select", select(ends[0] + 1, &set, NULL, NULL, &tv));
    printf("left %ld\n", (long)(tv.tv_sec + tv.tv_usec));
    FD_ZERO(&set);
    FD_SET(ends[0], &set);
    start(), tell_wait("pselect", pselect(ends[0] + 1, &set, NULL, NULL, &brief, NULL));
    start(), tell_wait("epoll_wait", epoll_wait(events, &e, 1, SHORT_MS));
    start(), tell_wait("epoll_pwait2", syscall(SYS_epoll_pwait2, events, &e, 1, &brief, NULL, 8));
    close(ends[0]), close(ends[1]), close(events);
}

static void others(void) {
    static uint32_t word;
    start(), tell_wait("futex", syscall(SYS_futex, &word, FUTEX_WAIT, 0, &brief, NULL, 0));
    int set = semget(IPC_PRIVATE, 1, 0600);
    struct sembuf down = {0, -1, 0};
    start(), tell_wait("semtimedop", semtimedop(set, &down, 1, &brief));
    semctl(set, 0, IPC_RMID);
    sigset_t usr;
    sigemptyset(&usr), sigaddset(&usr, SIGUSR2);
    sigprocmask(SIG_BLOCK, &usr, NULL);
    start(), tell_wait("sigtimedwait", sigtimedwait(&usr, NULL, &brief));
    int pair[2];
    char byte;
    struct timeval limit = {0, SHORT_MS * 1000};
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    start(), tell_wait("SO_RCVTIMEO recv", recv(pair[0], &byte, 1, 0));
    start(), tell_wait("SO_RCVTIMEO read", read(pair[0], &byte, 1));
    close(pair[0]), close(pair[1]);
    struct sockaddr_un name = {AF_UNIX};
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    bind(listener, (void *)&name, sizeof(name.sun_family));
    listen(listener, 1);
    setsockopt(listener, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    start(), tell_wait("SO_RCVTIMEO accept", accept(listener, NULL, NULL));
    close(listener);
}

/* ------------------------------------------------------------------------------------------------- waits for somebody else */

static void write_byte(int fd) {
    write(fd, "x", 1);
}

static void send_usr1(int pid) {
    kill(pid, SIGUSR1);
}

static void send_message(int queue) {
    struct {
        long type;
        char text[4];
    } m = {1, "abc"};
    msgsnd(queue, &m, sizeof(m.text), 0);
}

static void raise_semaphore(int set) {
    struct sembuf up = {0, 1, 0};
    semop(set, &up, 1);
}

static void wake(int fd) {
    uint32_t *word = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    *word = 1;
    syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void connect_to(int listener) {
    struct sockaddr_un name;
    socklen_t size = sizeof(name);
    getsockname(listener, (void *)&name, &size);
    connect(socket(AF_UNIX, SOCK_STREAM, 0), (void *)&name, size);
}

static void unlimited(void) {
    int ends[2];
    char byte = 0;
    pipe(ends);
    pid_t child = later(write_byte, ends[1]);
    tell("read", read(ends[0], &byte, 1));
    reap(child);
    struct pollfd p = {ends[0], POLLIN};
    child = later(write_byte, ends[1]);
    tell("poll", poll(&p, 1, -1));
    reap(child);
    close(ends[0]), close(ends[1]);
    int queue = msgget(IPC_PRIVATE, 0600), set = semget(IPC_PRIVATE, 1, 0600);
    struct {
        long type;
        char text[4];
    } m;
    child = later(send_message, queue);
    tell("msgrcv", msgrcv(queue, &m, sizeof(m.text), 0, 0));
    reap(child);
    struct sembuf down = {0, -1, 0};
    child = later(raise_semaphore, set);
    tell("semop", semop(set, &down, 1));
    reap(child);
    msgctl(queue, IPC_RMID, NULL), semctl(set, 0, IPC_RMID);
    int fd = memfd_create("word", 0);
    ftruncate(fd, 4096);
    uint32_t *word = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    child = later(wake, fd);
    tell("futex", syscall(SYS_futex, word, FUTEX_WAIT, 0, NULL, NULL, 0));
    reap(child);
    struct sockaddr_un name = {AF_UNIX};
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    bind(listener, (void *)&name, sizeof(name.sun_family));
    listen(listener, 1);
    child = later(connect_to, listener);
    int accepted = accept(listener, NULL, NULL);
    tell("accept", accepted < 0 ? -1 : 0);
    reap(child);
    close(listener), close(accepted), close(fd);
}

/* -------------------------------------------------------------------------------------------------- signals of its own, too */

static volatile int *handled; /* children see it, too */

static void count(int sig) {
    (void)sig;
    ++*handled;
}

static void handle(int flags) {
    struct sigaction a = {.sa_handler = count, .sa_flags = flags};
    sigaction(SIGUSR1, &a, NULL);
}

static void own_signals(void) {
    int ends[2];
    char byte;
    pipe(ends);
    handled = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < 2; i++) {
        handle(i ? SA_RESTART : 0);
        pid_t child = later(send_usr1, getpid());
        tell("pause", pause());
        reap(child);
        child = later(send_usr1, getpid());
        struct timespec left = {0}, longer = {20, 0};
        tell("nanosleep", nanosleep(&longer, &left));
        printf("left %s\n", left.tv_sec >= 10 && left.tv_sec < 20 ? "most" : "not what it should be");
        reap(child);
        int before = *handled;
        child = later(send_usr1, getpid());
        pid_t writer = 0, me = getpid();
        if (i && !(writer = fork())) {
            while (*handled == before && getppid() == me)
                usleep(1000);
            write(ends[1], "x", 1);
            _exit(0);
        }
        tell("read", read(ends[0], &byte, 1));
        reap(child);
        if (writer)
            reap(writer);
        sigset_t none;
        sigemptyset(&none);
        child = later(send_usr1, getpid());
        tell("sigsuspend", sigsuspend(&none));
        reap(child);
    }
    printf("handled %d\n", *handled);
    close(ends[0]), close(ends[1]);
}

/* -------------------------------------------------------------------------------------------------------- all or nothing */

/* Reads everything, slowly; the exit status tells whether it was right. */
static pid_t slow_reader(int fd, int other, long size) {
    pid_t child = fork();
    if (child)
        return child;
    close(other);
    static unsigned char part[8192];
    long sum = 0, all = 0, n;
    while (all < size && (n = read(fd, part, sizeof(part))) > 0) {
        for (long i = 0; i < n; i++)
            sum += part[i] ^ (unsigned char)((all + i) * 7);
        all += n;
        if (all % 65536 < sizeof(part))
            usleep(500);
    }
    _exit(all != size || sum);
}

static unsigned char data[PART];

static void writes(int kind) {
    static const char *const names[] = {"write to a pipe", "writev to a pipe", "send", "sendmsg", "sendfile"};
    int ends[2];
    if (kind < 2) {
        pipe(ends);
    } else {
        int pair[2];
        socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
        ends[0] = pair[0], ends[1] = pair[1];
    }
    pid_t reader = slow_reader(ends[0], ends[1], PART);
    close(ends[0]);
    struct iovec parts[5] = {
        {data, 1}, {data + 1, 70000}, {data + 70001, 0}, {data + 70001, 500000}, {data + 570001, PART - 570001}};
    struct msghdr m = {.msg_iov = parts, .msg_iovlen = 5};
    int file = memfd_create("file", 0);
    write(file, data, PART);
    off_t from = 0;
    switch (kind) {
    case 0:
        tell(names[kind], write(ends[1], data, PART));
        break;
    case 1:
        tell(names[kind], writev(ends[1], parts, 5));
        break;
    case 2:
        tell(names[kind], send(ends[1], data, PART, 0));
        break;
    case 3:
        tell(names[kind], sendmsg(ends[1], &m, 0));
        break;
    default:
        tell(names[kind], sendfile(ends[1], file, &from, PART));
        break;
    }
    close(ends[1]), close(file);
    reap(reader);
}

static void reads(void) {
    unsigned char *much = malloc(8 * PART);
    int zero = open("/dev/zero", O_RDONLY), random = open("/dev/urandom", O_RDONLY), pair[2];
    tell("zero", read(zero, much, 8 * PART));
    tell("urandom", read(random, much, 8 * PART));
    tell("getrandom", syscall(SYS_getrandom, much, 8 * PART, 0));
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    pid_t child = fork();
    if (!child) {
        for (int i = 0; i < 16; i++)
            write(pair[1], data + i * 4096, 4096), usleep(2000);
        _exit(0);
    }
    tell("MSG_WAITALL", recv(pair[0], much, 65536, MSG_WAITALL));
    printf("same: %d\n", !memcmp(much, data, 65536));
    reap(child);
    close(pair[0]), close(pair[1]);
    socketpair(AF_UNIX, SOCK_DGRAM, 0, pair);
    if (!(child = fork())) {
        for (int i = 0; i < 8; i++)
            write(pair[1], data + i, 2 + i), usleep(5000);
        _exit(0);
    }
    struct mmsghdr messages[8] = {0};
    struct iovec parts[8];
    for (int i = 0; i < 8; i++)
        parts[i] = (struct iovec){much + i * 16, 16},
        messages[i].msg_hdr = (struct msghdr){.msg_iov = &parts[i], .msg_iovlen = 1};
    tell("recvmmsg", recvmmsg(pair[0], messages, 8, 0, NULL));
    for (int i = 0; i < 8; i++)
        printf("%u ", messages[i].msg_len);
    printf("\n");
    reap(child);
    close(pair[0]), close(pair[1]), close(zero), close(random);
    free(much);
}

/* ---------------------------------------------------------------------------------------------------------------- a ring */

static void ring(void) {
    struct io_uring_params p = {0};
    int fd = (int)syscall(SYS_io_uring_setup, 4, &p), ends[2];
    if (fd < 0) {
        tell("io_uring_setup", fd);
        return;
    }
    pipe(ends);
    char *sq =
        mmap(NULL, p.sq_off.array + p.sq_entries * 4, PROT_READ | PROT_WRITE, MAP_SHARED, fd, IORING_OFF_SQ_RING);
    struct io_uring_sqe *sqe =
        mmap(NULL, p.sq_entries * sizeof(*sqe), PROT_READ | PROT_WRITE, MAP_SHARED, fd, IORING_OFF_SQES);
    char byte;
    *sqe = (struct io_uring_sqe){
        .opcode = IORING_OP_READ, .fd = ends[0], .addr = (uintptr_t)&byte, .len = 1, .off = (uint64_t)-1};
    ((unsigned *)(sq + p.sq_off.array))[0] = 0;
    __atomic_store_n((unsigned *)(sq + p.sq_off.tail), 1, __ATOMIC_RELEASE);
    pid_t child = later(write_byte, ends[1]);
    tell("submit and wait", syscall(SYS_io_uring_enter, fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0));
    reap(child);
    char *cq =
        mmap(NULL, p.cq_off.cqes + p.cq_entries * 16, PROT_READ | PROT_WRITE, MAP_SHARED, fd, IORING_OFF_CQ_RING);
    printf("done: %u\n", *(unsigned *)(cq + p.cq_off.tail));
    struct {
        uint64_t mask;
        uint32_t mask_size, pad;
        const struct timespec *limit;
    } wait = {0, 8, 0, &brief};
    start();
    tell_wait("wait with a limit", syscall(SYS_io_uring_enter, fd, 0, 2, IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG,
                                           &wait, sizeof(wait)));
    close(fd);
}

int main(void) {
    for (long i = 0; i < PART; i++)
        data[i] = (unsigned char)(i * 7);
    sleeps();
    polls();
    others();
    unlimited();
    own_signals();
    for (int kind = 0; kind < 5; kind++)
        writes(kind);
    reads();
    ring();
    return 0;
}
