/* debugger.c: see debugger.h. */
#include "cli/start/debugger.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { PORT_MOST = 65535, DESCRIPTOR_LEAST = 3 };

static int fail(const char *where, const char *why) {
    fprintf(stderr, "lathe: %s: %s\n", where, why);
    return -1;
}

/* ---------------------------------------------------------------------------------------------------------------- listening */

static int listen_at_port(const char *where) {
    char *end;
    long port = strtol(where, &end, 10);
    if (*end || end == where || port < 0 || port > PORT_MOST)
        return fail(where, "neither a port nor the path of a socket, which has a slash");
    struct sockaddr_in at = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof(at);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)) || listen(fd, 1) ||
        getsockname(fd, (struct sockaddr *)&at, &size))
        return fail(where, strerror(errno));
    fprintf(stderr, "lathe: waiting for gdb: target remote localhost:%u\n", ntohs(at.sin_port));
    return fd;
}

/* The socket is this user's alone. One that an earlier run has left is removed. */
static int listen_at_path(const char *path) {
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    struct stat st;
    if (strlen(path) >= sizeof(at.sun_path))
        return fail(path, "the path is too long");
    strcpy(at.sun_path, path);
    if (!lstat(path, &st) && S_ISSOCK(st.st_mode))
        unlink(path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    mode_t mask = umask(0077);
    int error = fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)) || listen(fd, 1) ? errno : 0;
    umask(mask);
    return error ? fail(path, strerror(error)) : fd;
}

/* Descriptors 0 to 2 are the program's. */
static int accept_one(int listening, const char *where) {
    int fd, on = 1;
    do
        fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC);
    while (fd < 0 && errno == EINTR);
    close(listening);
    if (fd < 0)
        return fail(where, strerror(errno));
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    int kept = fcntl(fd, F_DUPFD, DESCRIPTOR_LEAST);
    close(fd);
    return kept < 0 ? fail(where, strerror(errno)) : kept;
}

int debugger_await(const char *where) {
    bool path = strchr(where, '/');
    int listening = path ? listen_at_path(where) : listen_at_port(where);
    if (listening < 0)
        return -1;
    if (path)
        fprintf(stderr, "lathe: waiting for gdb: target remote %s\n", where);
    int fd = accept_one(listening, where);
    if (path)
        unlink(where);
    return fd;
}

/* -------------------------------------------------------------------------------------------------------------- gdb itself */

/* gdb for all kinds of machines is a package of its own. */
static void become_gdb(const char *path) {
    static const char *const names[] = {"gdb-multiarch", "gdb"};
    char command[PATH_MAX + 32];
    snprintf(command, sizeof(command), "target remote %s", path);
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        execlp(names[i], names[i], "-q", "-ex", command, (char *)NULL);
}

/* The program is the child, so that who started it waits for gdb. If gdb cannot be started, or ends at once, the child ends with it. */
int debugger_start(void) {
    char dir[] = "/tmp/lathe-gdb-XXXXXX", path[sizeof(dir) + 8];
    if (!mkdtemp(dir))
        return fail(dir, strerror(errno));
    snprintf(path, sizeof(path), "%s/gdb", dir);
    int listening = listen_at_path(path);
    pid_t child = listening < 0 ? -1 : fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        int fd = accept_one(listening, path);
        prctl(PR_SET_PDEATHSIG, 0);
        unlink(path);
        rmdir(dir);
        return fd;
    }
    if (child > 0) {
        become_gdb(path);
        kill(child, SIGKILL);
    }
    unlink(path);
    rmdir(dir);
    return fail("gdb", child > 0 ? "neither gdb-multiarch nor gdb can be started" : "no process for it");
}
