/* daemon.c: see daemon.h. */
#include "cli/start/daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BACKLOG = 1024, STOP_TRIES = 500, STOP_PAUSE_US = 10000 };

/* ------------------------------------------------------------------------------------------------------- the directory */

/* After su, the variable may name the directory of another user, which is not used. */
static const char *runtime_directory(void) {
    struct stat st;
    const char *path = getenv("XDG_RUNTIME_DIR");
    return path && *path == '/' && (stat(path, &st) || st.st_uid == geteuid()) ? path : NULL;
}

/* Leaves room for a slash, the digits and ".socket". */
static bool name_directory(Daemon *d) {
    const char *runtime = runtime_directory();
    int room = (int)sizeof(d->dir) - IDENTITY_SIZE - (int)sizeof("/.socket"), len;
    if (runtime)
        len = snprintf(d->dir, sizeof(d->dir), "%s/lathe", runtime);
    else
        len = snprintf(d->dir, sizeof(d->dir), "/tmp/lathe-%u", geteuid());
    return len > 0 && len < room;
}

/* In /tmp anybody can have made the directory, or a link of that name. */
static const char *distrust(const char *dir) {
    struct stat st;
    if (lstat(dir, &st))
        return errno == ENOENT ? "there is no server" : strerror(errno);
    if (!S_ISDIR(st.st_mode))
        return "not a directory";
    if (st.st_uid != geteuid())
        return "belongs to another user";
    return st.st_mode & (S_IRWXG | S_IRWXO) ? "is open to other users" : NULL;
}

const char *daemon_locate(Daemon *d, const char *server, const char *host, const PluginFile *plugin, bool make) {
    *d = (Daemon){.host = host, .idle_s = DAEMON_IDLE_S, .clients = DAEMON_CLIENTS};
    identity_of(server, d->build);
    if (host)
        identity_of_far(host, d->build);
    if (*plugin->word) {
        d->plugin = plugin->word;
        identity_of_plugin(plugin->identity, d->build);
    }
    if (!realpath(server, d->server))
        return strerror(errno);
    if (!name_directory(d))
        return "the path is too long for a socket";
    snprintf(d->socket, sizeof(d->socket), "%.*s/%s.socket", (int)strlen(d->dir), d->dir, d->build);
    if (make && mkdir(d->dir, 0700) && errno != EEXIST)
        return strerror(errno);
    return distrust(d->dir);
}

/* ------------------------------------------------------------------------------------------------------------ the lock */

static int open_lock(const Daemon *d) {
    char path[sizeof(d->dir) + sizeof("/lock")];
    snprintf(path, sizeof(path), "%s/lock", d->dir);
    return open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0600);
}

static struct flock lock_of(const Daemon *d) {
    return (struct flock){.l_type = F_WRLCK, .l_start = (off_t)strtoull(d->build, NULL, 16), .l_len = 1};
}

pid_t daemon_process(const Daemon *d) {
    struct flock lock = lock_of(d);
    int fd = open_lock(d);
    bool held = fd >= 0 && fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
    if (fd >= 0)
        close(fd);
    return held ? lock.l_pid : 0;
}

/* The descriptor stays open in the program that this process executes, and the lock stays with it. */
static bool take_lock(const Daemon *d) {
    struct flock lock = lock_of(d);
    int fd = open_lock(d);
    return fd >= 0 && fcntl(fd, F_SETLK, &lock) == 0;
}

/* -------------------------------------------------------------------------------------------------------- the beginning */

static int fail(const char *what, const char *why) {
    fprintf(stderr, "lathe: %s: %s\n", what, why);
    return 1;
}

/* The caller has the lock, so a socket of that name is a leftover and is removed. */
static int listen_at(const Daemon *d) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy(address.sun_path, d->socket, sizeof(d->socket));
    unlink(d->socket);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    mode_t before = umask(0177);
    bool ok = fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0 && listen(fd, BACKLOG) == 0;
    umask(before);
    return ok ? fd : -1;
}

/* Blocks the signals that end the daemon until something handles them that removes the socket: code here, or the
 * server. */
static void hold_signals(sigset_t *ending) {
    sigemptyset(ending);
    sigaddset(ending, SIGTERM);
    sigaddset(ending, SIGINT);
    sigprocmask(SIG_BLOCK, ending, NULL);
}

/* Until the first client comes, there is only this small process. */
static void wait_for_first(const Daemon *d, int listener, const sigset_t *ending) {
    int signals = signalfd(-1, ending, SFD_CLOEXEC);
    struct pollfd ready[] = {{.fd = listener, .events = POLLIN}, {.fd = signals, .events = POLLIN}};
    int count;
    while ((count = poll(ready, 2, (int)d->idle_s * 1000)) < 0 && errno == EINTR)
        ;
    if (count > 0 && !ready[1].revents)
        return;
    unlink(d->socket);
    _exit(0);
}

static int exec_server(const Daemon *d, int listener) {
    char words[5][256];
    snprintf(words[0], sizeof(words[0]), "--listen=%d", listener);
    snprintf(words[1], sizeof(words[1]), "--socket=%s", d->socket);
    snprintf(words[2], sizeof(words[2]), "--build=%s", d->build);
    snprintf(words[3], sizeof(words[3]), "--idle=%lu", d->idle_s);
    snprintf(words[4], sizeof(words[4]), "--clients=%lu", d->clients);
    char *more = NULL; /* one with a plugin is of this machine */
    CHECK(!d->host || asprintf(&more, "--ssh=%s", d->host) > 0, "out of memory");
    CHECK(!d->plugin || asprintf(&more, "--plugin=%s", d->plugin) > 0, "out of memory");
    execl(d->server, "lathe-server", words[0], words[1], words[2], words[3], words[4], more, NULL);
    return fail(d->server, strerror(errno));
}

/* If it failed, a message was printed already. */
static bool report(int ready) {
    int null = open("/dev/null", O_RDWR);
    for (int fd = 0; fd < 3; fd++)
        dup2(null, fd);
    close(null);
    bool told = write(ready, "+", 1) == 1;
    close(ready);
    return told;
}

/* `ready`: a pipe whose reader waits until clients can connect, or -1 for a daemon that keeps its terminal. */
static int become(const Daemon *d, bool lazy, int ready) {
    sigset_t ending;
    hold_signals(&ending);
    if (!take_lock(d))
        return daemon_process(d) ? 1 : fail(d->dir, "cannot be used");
    int listener = listen_at(d);
    if (listener < 0 || chdir("/"))
        return fail(d->socket, strerror(errno));
    if (ready >= 0 && !report(ready))
        return 1;
    if (lazy)
        wait_for_first(d, listener, &ending);
    return exec_server(d, listener);
}

int daemon_become(const Daemon *d, bool lazy) {
    return become(d, lazy, -1);
}

/* Runs in the grandchild, which has only the standard descriptors, for messages until it is ready, and the pipe. */
_Noreturn static void detach(const Daemon *d, bool lazy, int ready) {
    setsid();
    dup2(ready, 3);
    close_range(4, ~0u, 0);
    _exit(become(d, lazy, 3));
}

/* The daemon is a grandchild whose parent has ended, so that the program which this process executes has no child that
 * it does not know of. */
bool daemon_start(const Daemon *d, bool lazy) {
    int ready[2];
    char sign;
    if (pipe(ready))
        return false;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        if (fork() == 0)
            detach(d, lazy, ready[1]);
        _exit(0);
    }
    close(ready[1]);
    bool ok = child > 0 && waitpid(child, NULL, 0) == child && read(ready[0], &sign, 1) == 1;
    close(ready[0]);
    return ok;
}

/* -------------------------------------------------------------------------------------------------------------- the end */

bool daemon_stop(const Daemon *d) {
    pid_t process = daemon_process(d);
    if (process <= 0 || kill(process, SIGTERM))
        return false;
    for (int i = 0; i < STOP_TRIES && daemon_process(d) == process; i++)
        usleep(STOP_PAUSE_US);
    return daemon_process(d) != process;
}

bool daemon_is_host(const char *host) {
    for (const char *c = host; *c; c++)
        if ((u8)*c <= ' ' || *c == '\x7f')
            return false;
    return *host && *host != '-';
}
