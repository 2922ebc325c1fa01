/* bound.c: what one request may take: CPU time and memory.
 *
 * There is code that LLVM takes minutes and gigabytes for, and nothing in LLVM can be interrupted. So a timer of the process's CPU time
 * looks at it now and then, and ends the process when it has taken too much. The client is told so: it asks another server to do
 * with less (TranslateMessage.again). Others have servers of their own, which are other processes, and notice nothing. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

#include "run/server/server.h"

enum { TICK_MS = 20, DEFAULT_MS = 4000, DEFAULT_MIB = 2048 };

/* Used by the handler of a signal. */
static struct {
    int out;            /* where the client is told */
    volatile u32 ticks; /* that are left */
    u64 pages;          /* of memory, at most */
} bound;

/* Pages of memory that the process has now; 0: not known. */
static u64 resident_pages(void) {
    char text[64] = {0}, *at;
    int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    ssize_t size = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
    if (fd >= 0)
        close(fd);
    strtoull(text, &at, 10); /* all of its addresses */
    return size > 0 ? strtoull(at, NULL, 10) : 0;
}

static void look(int signal) {
    static const MessageHeader limit = {S_LIMIT, 0};
    (void)signal;
    if (bound.ticks && --bound.ticks && resident_pages() <= bound.pages)
        return;
    ssize_t told = write(bound.out, &limit, sizeof(limit));
    (void)told; /* who does not hear it sees that the connection ends */
    _exit(0);
}

static void set_timer(u32 ms) {
    struct timeval tick = {.tv_usec = ms * 1000};
    setitimer(ITIMER_PROF, &(struct itimerval){tick, tick}, NULL);
}

static u64 setting(const char *name, u64 otherwise) {
    const char *text = getenv(name);
    u64 value = text ? strtoull(text, NULL, 10) : 0;
    return value ? value : otherwise;
}

void bound_begin(const Connection *c) {
    bound.out = c->out ? c->out : c->fd;
    bound.ticks = (u32)(setting("LATHE_LIMIT_MS", DEFAULT_MS) / TICK_MS) + 1;
    bound.pages = setting("LATHE_LIMIT_MIB", DEFAULT_MIB) * (1 << 20) / (u64)sysconf(_SC_PAGESIZE);
    sigaction(SIGPROF, &(struct sigaction){.sa_handler = look, .sa_flags = SA_RESTART}, NULL);
    set_timer(TICK_MS);
}

void bound_end(void) {
    set_timer(0);
}
