/* trial.c: running a command and comparing two runs; see trial.h. */
#include "trial.h"

#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { STATUS_LOST = 125 }; /* as env and others have it: nothing was run */

/* ---------------------------------------------------------------------------------------------------------- the files */

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw) {
    (void)st, (void)type;
    return ftw->level ? remove(path) : 0;
}

bool empty_directory(const char *path) {
    if (mkdir(path, 0755) == 0)
        return true;
    return nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS) == 0;
}

static Output read_output(const char *path) {
    Output o = {0};
    int fd = open(path, O_RDONLY);
    struct stat st;
    if (fd >= 0 && fstat(fd, &st) == 0) {
        o.data = mem_new((size_t)st.st_size + 1);
        ssize_t n = read(fd, o.data, (size_t)st.st_size);
        o.size = n > 0 ? (size_t)n : 0;
    }
    if (fd >= 0)
        close(fd);
    unlink(path);
    return o;
}

/* ------------------------------------------------------------------------------------------------------------- running */

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void redirect(int to, const char *path, int flags) {
    int fd = open(path, flags | O_CLOEXEC, 0600);
    if (fd < 0 || dup2(fd, to) < 0)
        _exit(STATUS_LOST);
}

_Noreturn static void become(char *const *argv, const char *dir, const char *out, const char *err) {
    struct rlimit none = {0, 0};
    setpgid(0, 0);
    setrlimit(RLIMIT_CORE, &none);
    redirect(0, "/dev/null", O_RDONLY);
    redirect(1, out, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND);
    redirect(2, err, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND);
    if (chdir(dir))
        _exit(STATUS_LOST);
    execvp(argv[0], argv);
    _exit(127);
}

static void wait_for(pid_t pid, Trial *t, int timeout_seconds) {
    double start = now();
    while (waitpid(pid, &t->status, WNOHANG) == 0) {
        t->seconds = now() - start;
        if (t->seconds > timeout_seconds && !t->timeout) {
            t->timeout = true;
            kill(-pid, SIGKILL);
        }
        usleep(t->seconds < 0.1 ? 500 : 5000);
    }
    t->seconds = now() - start;
}

Trial trial_run(char *const *argv, const char *dir, int timeout_seconds) {
    Trial t = {0};
    char out[4096], err[4096];
    snprintf(out, sizeof(out), "%s.out", dir);
    snprintf(err, sizeof(err), "%s.err", dir);
    CHECK(empty_directory(dir), "cannot make a directory for a run");
    pid_t pid = fork();
    CHECK(pid >= 0, "cannot fork");
    if (pid == 0)
        become(argv, dir, out, err);
    wait_for(pid, &t, timeout_seconds);
    t.out = read_output(out);
    t.err = read_output(err);
    return t;
}

bool trial_not_found(const Trial *t) {
    return WIFEXITED(t->status) && WEXITSTATUS(t->status) >= STATUS_LOST && WEXITSTATUS(t->status) <= 127;
}

void trial_free(Trial *t) {
    free(t->out.data);
    free(t->err.data);
}

/* ----------------------------------------------------------------------------------------------------------- comparing */

static void print_status(FILE *to, const Trial *t) {
    if (t->timeout)
        fprintf(to, "still runs after %.0f s", t->seconds);
    else if (WIFSIGNALED(t->status))
        fprintf(to, "SIG%s", sigabbrev_np(WTERMSIG(t->status)));
    else
        fprintf(to, "status %d", WEXITSTATUS(t->status));
}

/* The line that holds byte `at`, made fit for people. */
static void print_line(FILE *to, const Output *o, size_t at) {
    size_t start = at;
    while (start > 0 && o->data[start - 1] != '\n' && at - start < 60)
        start--;
    fputc('\'', to);
    for (size_t i = start; i < o->size && o->data[i] != '\n' && i < start + 120; i++)
        fputc(o->data[i] >= ' ' && o->data[i] < 127 ? o->data[i] : '?', to);
    fputs(at < o->size ? "'" : "' and the end", to);
}

static void compare_output(FILE *to, const char *what, const Output *expected, const Output *got) {
    size_t at = 0;
    while (at < expected->size && at < got->size && expected->data[at] == got->data[at])
        at++;
    if (at == expected->size && at == got->size)
        return;
    fprintf(to, "    %s differs at byte %zu of %zu, got %zu\n      expected ", what, at, expected->size, got->size);
    print_line(to, expected, at);
    fprintf(to, "\n      got      ");
    print_line(to, got, at);
    fputc('\n', to);
}

char *trial_difference(const Trial *expected, const Trial *got) {
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    CHECK(to, "out of memory");
    if (expected->status != got->status || got->timeout || expected->timeout) {
        fprintf(to, "    ends otherwise: expected ");
        print_status(to, expected);
        fprintf(to, ", got ");
        print_status(to, got);
        fputc('\n', to);
    }
    compare_output(to, "output", &expected->out, &got->out);
    compare_output(to, "standard error", &expected->err, &got->err);
    fclose(to);
    if (size)
        return text;
    free(text);
    return NULL;
}
