/* work.c: see work.h. LLVM ends its process when it can make no code of a function, and may take very long for a large one. */
#include "cli/explore/work.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECONDS_MAX 120

/* The work ends with whoever waits for it. */
_Noreturn static void do_work(int fd, void (*job)(FILE *out, void *user), void *user) {
    struct rlimit limit = {SECONDS_MAX, SECONDS_MAX}, none = {0, 0};
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_UNBLOCK, &all, NULL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setrlimit(RLIMIT_CPU, &limit);
    setrlimit(RLIMIT_CORE, &none);
    FILE *out = fdopen(fd, "w");
    CHECK(out, "out of memory");
    job(out, user);
    _exit(fclose(out) ? 1 : 0);
}

static char *read_all(int fd, size_t *size) {
    VEC(char) data = {0};
    for (;;) {
        VEC_RESERVE(&data, 1 << 16);
        ssize_t got = read(fd, data.at + data.len, 1 << 16);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        data.len += (size_t)got;
    }
    *size = data.len;
    return data.at;
}

/* How a process ended; NULL: as it should. */
static const char *reason(int status) {
    if (WIFEXITED(status))
        return WEXITSTATUS(status) ? "it could not be compiled: LLVM gave up" : NULL;
    int with = WTERMSIG(status);
    return with == SIGXCPU || with == SIGKILL ? "it takes too long to compile, or too much memory"
                                              : "it could not be compiled: LLVM has crashed";
}

char *work_run(void (*job)(FILE *out, void *user), void *user, size_t *size, const char **why) {
    int ends[2], status = 0;
    if (pipe2(ends, O_CLOEXEC)) {
        *why = strerror(errno);
        return NULL;
    }
    pid_t worker = fork();
    if (!worker) {
        close(ends[0]);
        do_work(ends[1], job, user);
    }
    close(ends[1]);
    *why = worker < 0 ? "no further process can be started" : NULL;
    char *data = worker < 0 ? NULL : read_all(ends[0], size);
    close(ends[0]);
    while (worker > 0 && waitpid(worker, &status, 0) < 0 && errno == EINTR)
        ;
    if (!*why)
        *why = reason(status);
    if (!*why)
        return data;
    free(data);
    return NULL;
}
