/* bound.c: limits the CPU time and memory of one request.
 *
 * For some code LLVM takes minutes and gigabytes, and nothing in LLVM can be interrupted. So a timer of the process's CPU time checks now
 * and then, and ends the process when it has taken too much. The client is told so, and asks another server to use less
 * (TranslateMessage.again). Other clients have servers of their own, which are other processes and notice nothing. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

#include "run/protocol/message.h"
#include "run/server/plugin/plugin.h"

enum { TICK_MS = 20, DEFAULT_MS = 4000, DEFAULT_MIB = 2048 };

/* The handler of the signal uses this. */
static struct {
    int out;            /* the client's descriptor, for the message */
    volatile u32 ticks; /* ticks that are left */
    u64 pages;          /* the most memory, in pages */
} bound;

/* The number of pages of memory that the process has now; 0 if it is not known. */
static u64 resident_pages(void) {
    char text[64] = {0}, *at;
    int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    ssize_t size = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
    if (fd >= 0)
        close(fd);
    strtoull(text, &at, 10); /* skips the size of the address space */
    return size > 0 ? strtoull(at, NULL, 10) : 0;
}

static void look(int signal) {
    (void)signal;
    if (bound.ticks && --bound.ticks && resident_pages() <= bound.pages)
        return;
    if (plugin_guard_limit())
        _exit(1);
    MessageHeader limit = message_header(S_LIMIT, NULL, 0, NULL, 0);
    ssize_t told = write(bound.out, &limit, sizeof(limit));
    (void)told; /* if the message is lost, the client sees the end of the connection */
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
