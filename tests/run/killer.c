/* killer.c: a process that kills translation servers while programs run; see killer.h. */
#include "killer.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"

static volatile sig_atomic_t asked_to_end;

static void end(int signal) {
    (void)signal;
    asked_to_end = 1;
}

static bool is_server(const char *pid) {
    char link[300], exe[4096];
    snprintf(link, sizeof(link), "/proc/%s/exe", pid);
    ssize_t len = readlink(link, exe, sizeof(exe) - 1);
    if (len <= 0)
        return false;
    exe[len] = 0;
    const char *name = strrchr(exe, '/');
    return name && !strcmp(name, "/lathe-server");
}

/* True if the environment of process `pid` names a cache in `work`: it belongs to our programs, not to somebody else's. */
static bool is_ours(const char *pid, const char *work) {
    char file[300], environ[20000], wanted[4200];
    snprintf(file, sizeof(file), "/proc/%s/environ", pid);
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    ssize_t size = fd >= 0 ? read(fd, environ, sizeof(environ)) : -1;
    if (fd >= 0)
        close(fd);
    int len = snprintf(wanted, sizeof(wanted), "LATHE_CACHE=%s/", work);
    return size > 0 && memmem(environ, (size_t)size, wanted, (size_t)len);
}

/* True if the server has had `ms` of the processor's time. On a busy machine it would never answer if it was killed earlier. */
static bool has_had_its_time(const char *pid, int ms) {
    char file[300];
    unsigned long user = 0, system = 0, tick_ms = 1000 / (unsigned long)sysconf(_SC_CLK_TCK);
    snprintf(file, sizeof(file), "/proc/%s/stat", pid);
    FILE *f = fopen(file, "r");
    int found =
        f ? fscanf(f, "%*d (lathe-server) %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system) : 0;
    if (f)
        fclose(f);
    return found == 2 && (user + system) * tick_ms >= (unsigned long)ms;
}

/* Those that are there now: the ones that come in place of them have higher numbers, and /proc would show these, too. */
static int kill_all(const char *work, int ms) {
    VEC(int) found = {0};
    DIR *processes = opendir("/proc");
    CHECK(processes, "cannot read /proc");
    for (struct dirent *e; (e = readdir(processes));)
        if (is_server(e->d_name) && is_ours(e->d_name, work) && has_had_its_time(e->d_name, ms))
            VEC_PUSH(&found, atoi(e->d_name));
    closedir(processes);
    int count = 0;
    for (size_t i = 0; i < found.len; i++)
        count += kill(found.at[i], SIGKILL) == 0;
    VEC_FREE(&found);
    return count;
}

pid_t killer_start(const char *work, int ms) {
    fflush(stdout);
    pid_t pid = fork();
    CHECK(pid >= 0, "cannot fork");
    if (pid > 0)
        return pid;
    signal(SIGTERM, end);
    int count = 0;
    while (!asked_to_end) {
        usleep((useconds_t)ms * 1000);
        count += kill_all(work, ms);
    }
    printf("%d servers killed\n", count);
    fflush(stdout);
    _exit(count ? 0 : 1);
}

bool killer_stop(pid_t killer) {
    int status;
    kill(killer, SIGTERM);
    return waitpid(killer, &status, 0) == killer && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
