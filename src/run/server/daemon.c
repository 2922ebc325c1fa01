/* daemon.c: the process of `lathe serve`: waits for clients, and forks a copy of itself for each.
 *
 * The parent never reads what a client sends and never translates, so it stays small, and no client can harm it. A copy has LLVM loaded and
 * set up already, shares that memory with all other copies, and ends with its client. */
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run/server/server.h"

typedef struct DaemonProcess {
    const DaemonConfig *config;
    int signals; /* a signalfd */
    VEC(pid_t) children;
    bool ending;
} DaemonProcess;

static void set_signals(int how, sigset_t *set) {
    sigemptyset(set);
    sigaddset(set, SIGCHLD);
    sigaddset(set, SIGTERM);
    sigaddset(set, SIGINT);
    sigprocmask(how, set, NULL);
}

/* ------------------------------------------------------------------------------------------------------------- clients */

/* The socket's mode keeps other users away; this check does so if somebody has changed the mode. */
static bool is_users_own(int fd) {
    struct ucred peer;
    socklen_t size = sizeof(peer);
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == geteuid();
}

_Noreturn static void serve(DaemonProcess *d, int fd) {
    sigset_t set;
    struct timeval patience = {.tv_sec = d->config->idle_s};
    close(d->config->listener);
    close(d->signals);
    set_signals(SIG_UNBLOCK, &set);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    _exit(d->config->serve(d->config->user, fd));
}

/* A client beyond the allowed number is disconnected, and starts a server of its own. */
static void take_client(DaemonProcess *d) {
    int fd = accept4(d->config->listener, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0)
        return;
    if (is_users_own(fd) && d->children.len < d->config->clients) {
        pid_t child = fork();
        if (child == 0)
            serve(d, fd);
        if (child > 0)
            VEC_PUSH(&d->children, child);
    }
    close(fd);
}

/* -------------------------------------------------------------------------------------------------------------- the end */

static void end(DaemonProcess *d) {
    if (!d->ending)
        unlink(d->config->path);
    d->ending = true;
    for (size_t i = 0; i < d->children.len; i++)
        kill(d->children.at[i], SIGTERM);
}

static void remove_child(DaemonProcess *d, pid_t child) {
    size_t kept = 0;
    for (size_t i = 0; i < d->children.len; i++)
        if (d->children.at[i] != child)
            d->children.at[kept++] = d->children.at[i];
    d->children.len = kept;
}

static void reap(DaemonProcess *d) {
    int status;
    for (pid_t child; (child = waitpid(-1, &status, WNOHANG)) > 0;) {
        remove_child(d, child);
        if (WIFEXITED(status) && WEXITSTATUS(status) == DAEMON_ENDS)
            end(d);
    }
}

static void take_signal(DaemonProcess *d) {
    struct signalfd_siginfo info;
    if (read(d->signals, &info, sizeof(info)) != sizeof(info))
        return;
    if (info.ssi_signo == SIGCHLD)
        reap(d);
    else
        end(d);
}

/* ---------------------------------------------------------------------------------------------------------------- waiting */

static void wait_once(DaemonProcess *d) {
    struct pollfd ready[] = {{.fd = d->signals, .events = POLLIN}, {.fd = d->config->listener, .events = POLLIN}};
    int timeout_ms = d->children.len ? -1 : (int)d->config->idle_s * 1000;
    int count = poll(ready, d->ending ? 1 : 2, timeout_ms);
    if (count == 0)
        end(d);
    if (count > 0 && ready[0].revents)
        take_signal(d);
    if (count > 0 && ready[1].revents && !d->ending)
        take_client(d);
}

void daemon_run(const DaemonConfig *config) {
    DaemonProcess d = {.config = config};
    sigset_t set;
    set_signals(SIG_BLOCK, &set);
    d.signals = signalfd(-1, &set, SFD_CLOEXEC);
    CHECK(d.signals >= 0, "the system has no signalfd");
    while (!d.ending || d.children.len)
        wait_once(&d);
    VEC_FREE(&d.children);
    close(d.signals);
}
