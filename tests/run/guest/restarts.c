/* restarts.c: a signal in the middle of each kind of blocking call: which ones go on, and what the others answer. */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "await.h"

enum { LOOK_US = 3000, WAIT_S = 20 /* longer than any signal takes to come */ };

static volatile sig_atomic_t handled;
static int ends[2], pair[2], lock_fd, queue;
static sem_t semaphore;
static unsigned word;
static volatile int ready; /* the next thing that the caller does is the call that waits */

static void on_signal(int sig) {
    (void)sig;
    handled++;
}

/* ----------------------------------------------------------------------------------------------------------- the calls */

static const struct timespec longest = {WAIT_S, 0};

static struct timespec from_now(clockid_t clock) {
    struct timespec until;
    clock_gettime(clock, &until);
    until.tv_sec += WAIT_S;
    return until;
}

static long by_read(void) {
    char c;
    ready = 1;
    return read(ends[0], &c, 1);
}

static long take(void) {
    char c;
    return recv(pair[0], &c, 1, 0);
}

static long by_recv(void) {
    ready = 1;
    return take();
}

static long by_recv_timeout(void) {
    struct timeval limit = {WAIT_S, 0}, none = {0};
    char c;
    setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    ready = 1;
    long n = recv(pair[0], &c, 1, 0);
    int error = errno;
    setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &none, sizeof(none));
    errno = error;
    return n;
}

static long by_accept(void) {
    struct sockaddr_un name = {.sun_family = AF_UNIX, .sun_path = "\0lathe-restarts"};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    snprintf(name.sun_path + 1, sizeof(name.sun_path) - 1, "lathe-restarts-%d", getpid());
    if (bind(fd, (void *)&name, sizeof(name)) || listen(fd, 1))
        return -2;
    struct timeval limit = {WAIT_S, 0};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    ready = 1;
    long got = accept(fd, NULL, NULL);
    int error = errno;
    close(fd);
    errno = error;
    return got;
}

static long by_poll(void) {
    ready = 1;
    return poll(&(struct pollfd){ends[0], POLLIN, 0}, 1, WAIT_S * 1000);
}

static long by_select(void) {
    struct timeval limit = {WAIT_S, 0};
    fd_set set;
    FD_ZERO(&set);
    FD_SET(ends[0], &set);
    ready = 1;
    return select(ends[0] + 1, &set, NULL, NULL, &limit);
}

static long by_epoll(void) {
    struct epoll_event event;
    int fd = epoll_create1(0);
    ready = 1;
    long n = epoll_wait(fd, &event, 1, WAIT_S * 1000);
    int error = errno;
    close(fd);
    errno = error;
    return n;
}

static long by_nanosleep(void) {
    struct timespec left = {0};
    ready = 1;
    long result = nanosleep(&longest, &left);
    return result && left.tv_nsec > 0 && left.tv_sec < WAIT_S ? -1 : result;
}

static long by_absolute_sleep(void) {
    struct timespec until = from_now(CLOCK_MONOTONIC);
    ready = 1;
    int error = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
    errno = error;
    return error ? -1 : 0;
}

static long by_futex(void) {
    ready = 1;
    return syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &longest, NULL, 0);
}

static long by_futex_forever(void) { /* somebody else changes the word and wakes */
    word = 0;
    ready = 1;
    return syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
}

static long by_semaphore(void) {
    struct timespec until = from_now(CLOCK_REALTIME);
    ready = 1;
    return sem_timedwait(&semaphore, &until);
}

static long by_sigtimedwait(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    ready = 1;
    return sigtimedwait(&set, NULL, &longest);
}

static long by_wait(void) {
    pid_t child = fork();
    if (!child) {
        take();
        _exit(3);
    }
    int status = 0;
    ready = 1;
    long got = waitpid(child, &status, 0);
    int error = errno;
    while (got < 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
        ;
    errno = error;
    return got < 0 ? got : WEXITSTATUS(status);
}

static long by_flock(void) {
    int fd = open("lock", O_RDWR);
    ready = 1;
    long result = flock(fd, LOCK_EX);
    int error = errno;
    close(fd);
    errno = error;
    return result;
}

static long by_message(void) {
    struct {
        long type;
        char text[8];
    } m;
    ready = 1;
    return msgrcv(queue, &m, sizeof(m.text), 0, 0);
}

static long by_pause(void) {
    ready = 1;
    return pause();
}

static long by_thread_join(void) { /* glibc's, which goes on */
    extern void *stay(void *);
    pthread_t id;
    void *result;
    pthread_create(&id, NULL, stay, NULL);
    ready = 1;
    pthread_join(id, &result);
    return (long)result;
}

void *stay(void *arg) {
    (void)arg;
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    take();
    return (void *)7;
}

/* ------------------------------------------------------------------------------------------------------------- the rest */

typedef struct Caller {
    pid_t tid;
    int directory; /* of /proc */
} Caller;

static void release(void) {
    struct {
        long type;
        char text[8];
    } m = {1, "x"};
    write(ends[1], "x", 1);
    write(pair[1], "x", 1);
    flock(lock_fd, LOCK_UN);
    msgsnd(queue, &m, sizeof(m.text), 0);
    __atomic_store_n(&word, 1, __ATOMIC_SEQ_CST);
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* A signal first; then, when it has been handled and the call goes on or has ended, what it waits for. */
static void *disturb(void *arg) {
    const Caller *caller = arg;
    while (!ready)
        usleep(LOOK_US);
    await_sleep(caller->directory);
    syscall(SYS_tgkill, getpid(), caller->tid, SIGUSR1);
    while (!handled)
        usleep(LOOK_US);
    await_sleep(caller->directory);
    release();
    return NULL;
}

/* What was not taken is there no longer. */
static void drain(void) {
    char text[64];
    while (recv(pair[0], text, sizeof(text), MSG_DONTWAIT) > 0)
        ;
    int flags = fcntl(ends[0], F_GETFL);
    fcntl(ends[0], F_SETFL, flags | O_NONBLOCK);
    while (read(ends[0], text, sizeof(text)) > 0)
        ;
    fcntl(ends[0], F_SETFL, flags);
    while (msgrcv(queue, text, 8, 0, IPC_NOWAIT) >= 0)
        ;
    word = 0;
    flock(lock_fd, LOCK_EX);
}

static volatile int returned;

static void set_handler(int flags) {
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = flags};
    sigaction(SIGUSR1, &action, NULL);
}

static Caller the_caller; /* the thread that makes the calls */

/* Signals until the call has returned; the first few may have it made again. */
static void *interrupt(void *arg) {
    for (int released = 0; !returned;) {
        if (handled >= 3 && !released) {
            set_handler(0);
            release();
            released = 1;
        }
        syscall(SYS_tgkill, getpid(), ((const Caller *)arg)->tid, SIGUSR1);
        usleep(LOOK_US);
    }
    return NULL;
}

/* A thread that waits for its code to be translated sleeps, too: everything around the call runs before it counts. */
static void rehearse(long (*call)(void), int flags) {
    pthread_t id;
    set_handler(flags);
    drain();
    proc_state(the_caller.directory);
    returned = handled = 0;
    pthread_create(&id, NULL, interrupt, &the_caller);
    call();
    returned = 1;
    pthread_join(id, NULL);
}

static void run(const char *name, long (*call)(void)) {
    rehearse(call, 0);
    rehearse(call, SA_RESTART);
    printf("%s:", name);
    for (int restart = 0; restart < 2; restart++) {
        pthread_t id;
        set_handler(restart ? SA_RESTART : 0);
        drain();
        ready = handled = 0;
        pthread_create(&id, NULL, disturb, &the_caller);
        long result = call();
        int error = errno;
        pthread_join(id, NULL);
        printf(" %ld %s, handled %d;", result, result < 0 ? strerrorname_np(error) : "-", (int)handled);
    }
    printf("\n");
}

int main(void) {
    setvbuf(stdout, NULL, _IONBF, 0);
    pipe(ends);
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    lock_fd = open("lock", O_RDWR | O_CREAT, 0600);
    queue = msgget(IPC_PRIVATE, 0600);
    the_caller = (Caller){gettid(), proc_directory()};
    sem_init(&semaphore, 0, 0);
    run("read", by_read);
    run("recv", by_recv);
    run("recv with a timeout", by_recv_timeout);
    run("accept with a timeout", by_accept);
    run("poll", by_poll);
    run("select", by_select);
    run("epoll_wait", by_epoll);
    run("nanosleep", by_nanosleep);
    run("clock_nanosleep", by_absolute_sleep);
    run("futex with a timeout", by_futex);
    run("futex", by_futex_forever);
    run("sem_timedwait", by_semaphore);
    run("sigtimedwait", by_sigtimedwait);
    run("waitpid", by_wait);
    run("flock", by_flock);
    run("msgrcv", by_message);
    run("pause", by_pause);
    run("pthread_join", by_thread_join);
    msgctl(queue, IPC_RMID, NULL);
    unlink("lock");
    return 0;
}
