/* work.c: see work.h. LLVM ends its process when it can make no code of a function, and may take very long for a large one. */
#include "cli/explore/work.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECONDS_MAX 120

/* The work ends with whoever waits for it. */
_Noreturn static void do_work(pid_t parent, int fd, void (*job)(FILE *out, void *user), void *user) {
    struct rlimit limit = {SECONDS_MAX, SECONDS_MAX}, none = {0, 0};
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_UNBLOCK, &all, NULL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
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

/* Starts the work, and returns where its answer comes from; -1: it cannot be started. A worker that is started meanwhile by another thread must not have this one's end of the
 * pipe, since the answer is complete only when all of them are closed. */
static int start(pid_t *worker, void (*job)(FILE *out, void *user), void *user) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pid_t parent = getpid();
    int ends[2] = {-1, -1};
    pthread_mutex_lock(&lock);
    *worker = pipe2(ends, O_CLOEXEC) ? -1 : fork();
    if (!*worker) {
        close(ends[0]);
        do_work(parent, ends[1], job, user);
    }
    if (ends[1] >= 0)
        close(ends[1]);
    pthread_mutex_unlock(&lock);
    if (*worker < 0 && ends[0] >= 0)
        close(ends[0]);
    return *worker < 0 ? -1 : ends[0];
}

char *work_run(void (*job)(FILE *out, void *user), void *user, size_t *size, const char **why) {
    pid_t worker;
    int status = 0, answer = start(&worker, job, user);
    if (answer < 0) {
        *why = "no further process can be started";
        return NULL;
    }
    char *data = read_all(answer, size);
    close(answer);
    while (waitpid(worker, &status, 0) < 0 && errno == EINTR)
        ;
    *why = reason(status);
    if (!*why)
        return data;
    free(data);
    return NULL;
}
