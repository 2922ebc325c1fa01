/* ends.c: ends a program that uses binopt in each way that there is, at moments from before LLVM has begun to work until it is done.
 *
 *     ends RUNS SEED [USER SUBJECT]
 *
 * Each run is a process of its own. It must end as asked, having printed what it should and nothing else, and soon: without using much
 * CPU time after the moment. With USER and SUBJECT, two libraries, both are loaded while it runs, and can be unloaded. */
#include "ends.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LONGEST_SECONDS = 120, MOST_CPU_MS = 1000, FORKS = 6 };

typedef enum Way {
    BY_RETURN,
    BY_EXIT,
    BY_EXIT_IN_THREAD,
    BY_EXIT_AT_ONCE, /* _exit */
    BY_QUICK_EXIT,
    BY_ABORT,
    BY_EXEC,
    BY_FORK,        /* the child returns from main, then the parent does */
    BY_FORK_AND_GO, /* the child uses binopt before it does */
    BY_FORKS,       /* both, several times */
    WAYS_LINKED,
    BY_UNLOADING = WAYS_LINKED, /* the library that uses binopt */
    BY_TIDY_UNLOADING,          /* it frees what it has */
    BY_UNLOADING_SUBJECT,       /* the library that has the function */
    WAYS,
} Way;

static const char *const way_names[WAYS] = {
    [BY_RETURN] = "return",
    [BY_EXIT] = "exit",
    [BY_EXIT_IN_THREAD] = "exit in a thread",
    [BY_EXIT_AT_ONCE] = "_exit",
    [BY_QUICK_EXIT] = "quick_exit",
    [BY_ABORT] = "abort",
    [BY_EXEC] = "exec",
    [BY_FORK] = "fork",
    [BY_FORK_AND_GO] = "fork and use",
    [BY_FORKS] = "forks",
    [BY_UNLOADING] = "unload",
    [BY_TIDY_UNLOADING] = "unload tidily",
    [BY_UNLOADING_SUBJECT] = "unload the function",
};

/* -------------------------------------------------------------------------------------------------------- one process */

/* The last thing that happens when the process ends, after all destructors: a thread that still works has some time to meet what is gone. */
static void linger(void) {
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
}

static void register_linger(void) {
    atexit(linger);
}

/* Before the constructors of all libraries. */
__attribute__((section(".preinit_array"), used)) static void (*const first_of_all)(void) = register_linger;

typedef struct User {
    void *library, *subject_library; /* NULL: they are in the program */
    __typeof__(&user_start) start;
    __typeof__(&user_is_right) is_right;
    __typeof__(&user_is_done) is_done;
    __typeof__(&user_makes_another) makes_another;
    Subject *from;
} User;

#ifdef ENDS_LINKED
static User find_user(char **libraries) {
    (void)libraries;
    return (User){NULL, NULL, user_start, user_is_right, user_is_done, user_makes_another, subject};
}
#else
static void *need(void *found) {
    if (!found) {
        fprintf(stderr, "%s\n", dlerror());
        _exit(9);
    }
    return found;
}

static User find_user(char **libraries) {
    User u = {.library = need(dlopen(libraries[0], RTLD_NOW)), .subject_library = need(dlopen(libraries[1], RTLD_NOW))};
    u.start = (__typeof__(u.start))need(dlsym(u.library, "user_start"));
    u.is_right = (__typeof__(u.is_right))need(dlsym(u.library, "user_is_right"));
    u.is_done = (__typeof__(u.is_done))need(dlsym(u.library, "user_is_done"));
    u.makes_another = (__typeof__(u.makes_another))need(dlsym(u.library, "user_makes_another"));
    u.from = (Subject *)need(dlsym(u.subject_library, "subject"));
    return u;
}
#endif

static double now_ms(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static void *exit_here(void *unused) {
    exit(0);
    return unused;
}

/* In the child, 0 if all is right; it ends by returning from main. */
static int run_child(const User *u, bool use) {
    alarm(LONGEST_SECONDS);
    bool right = u->is_right() && (!use || u->makes_another(u->from));
    return right ? 0 : 7;
}

/* Ends the child; the parent goes on once that has happened. */
static bool fork_once(const User *u, bool use, int *child_status) {
    int status = 0;
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        *child_status = run_child(u, use);
        return false;
    }
    if (waitpid(child, &status, 0) != child || status)
        printf("the child ended with status %#x\n", (unsigned)status);
    return true;
}

/* The status for main to return. */
static int fork_often(const User *u) {
    int status = 0;
    for (int i = 0; i < FORKS; i++)
        if (!fork_once(u, i == FORKS - 1, &status))
            return status;
    return u->is_right() ? 0 : 6;
}

static void exit_in_thread(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, exit_here, NULL);
    pthread_join(thread, NULL);
}

static void exec_self(char **argv) {
    fflush(stdout);
    execl("/proc/self/exe", argv[0], "done", NULL);
}

/* Returns what main is to return. */
static int end(User *u, Way way, char **argv) {
    int status = 0;
    printf("right\n");
    switch (way) {
    case BY_RETURN:
    case WAYS:
        return 0;
    case BY_EXIT:
        exit(0);
    case BY_EXIT_IN_THREAD:
        exit_in_thread();
        return 5;
    case BY_EXIT_AT_ONCE:
        fflush(stdout);
        _exit(0);
    case BY_QUICK_EXIT:
        fflush(stdout);
        quick_exit(0);
    case BY_ABORT:
        fflush(stdout);
        abort();
    case BY_EXEC:
        exec_self(argv);
        return 5;
    case BY_FORK:
    case BY_FORK_AND_GO:
        fork_once(u, way == BY_FORK_AND_GO, &status);
        return status;
    case BY_FORKS:
        return fork_often(u);
    case BY_UNLOADING:
    case BY_TIDY_UNLOADING:
        return dlclose(u->library) ? 5 : 0;
    case BY_UNLOADING_SUBJECT:
        return dlclose(u->subject_library) ? 5 : 0;
    }
    return 5;
}

/* "once WAY IN_THREAD MOMENT REPORT [USER SUBJECT]": MOMENT is in microseconds after the start, or negative: when all is done. */
static int run_once(char **argv) {
    Way way = (Way)atoi(argv[2]);
    double moment = atof(argv[4]) * 1e-3, report[2];
    int report_fd = atoi(argv[5]);
    alarm(LONGEST_SECONDS);
    User u = find_user(argv + 6);
    u.start(u.from, atoi(argv[3]), way == BY_TIDY_UNLOADING);
    double start = now_ms(CLOCK_MONOTONIC);
    while (moment < 0 ? !u.is_done() : now_ms(CLOCK_MONOTONIC) - start < moment)
        if (!u.is_right())
            return 6;
    report[0] = now_ms(CLOCK_MONOTONIC) - start;
    report[1] = now_ms(CLOCK_PROCESS_CPUTIME_ID);
    if (!u.is_right() || write(report_fd, report, sizeof(report)) != sizeof(report))
        return 6;
    return end(&u, way, argv);
}

/* --------------------------------------------------------------------------------------------------------- all of them */

typedef struct Plan {
    Way way;
    bool in_thread;
    double moment_us;
    char **libraries; /* or NULL */
} Plan;

typedef struct Ending {
    int status;
    double took_ms, cpu_ms; /* until the moment; after it */
    char output[512];
} Ending;

static void start_process(const Plan *p, int output, int report) {
    char way[12], thread[12], moment[32], fd[12];
    snprintf(way, sizeof(way), "%d", (int)p->way);
    snprintf(thread, sizeof(thread), "%d", p->in_thread);
    snprintf(moment, sizeof(moment), "%.1f", p->moment_us);
    snprintf(fd, sizeof(fd), "%d", report);
    dup2(output, 1);
    dup2(output, 2);
    setenv("BINOPT_DRIVER", p->in_thread ? "llvm" : "tiered", 1);
    char *user = p->libraries ? p->libraries[0] : NULL, *from = p->libraries ? p->libraries[1] : NULL;
    execl("/proc/self/exe", "ends", "once", way, thread, moment, fd, user, from, NULL);
    _exit(8);
}

static void take_output(int fd, char *text, size_t size) {
    size_t have = 0;
    for (ssize_t n; (n = read(fd, text + have, size - 1 - have)) > 0;)
        have += (size_t)n;
    text[have] = 0;
}

/* What is printed is less than a pipe holds. */
static Ending run_process(const Plan *p) {
    int output[2], report[2];
    Ending e = {.status = -1};
    struct rusage used;
    double times[2] = {0, 0};
    if (pipe(output) || pipe(report))
        return e;
    pid_t child = fork();
    if (!child) {
        close(output[0]);
        start_process(p, output[1], report[1]);
    }
    close(output[1]);
    close(report[1]);
    wait4(child, &e.status, 0, &used);
    take_output(output[0], e.output, sizeof(e.output));
    bool reported = read(report[0], times, sizeof(times)) == sizeof(times);
    close(output[0]);
    close(report[0]);
    double all = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e3 +
                 (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1e-3;
    e.took_ms = times[0];
    e.cpu_ms = reported ? all - times[1] : 0;
    return e;
}

static bool is_right(const Plan *p, const Ending *e) {
    bool many = p->way == BY_FORKS || p->way == BY_FORK || p->way == BY_FORK_AND_GO || p->way == BY_TIDY_UNLOADING;
    bool ended = p->way == BY_ABORT ? WIFSIGNALED(e->status) && WTERMSIG(e->status) == SIGABRT : e->status == 0;
    const char *text = p->way == BY_EXEC ? "right\ndone\n" : "right\n";
    return ended && !strcmp(e->output, text) && (many || e->cpu_ms < MOST_CPU_MS);
}

static uint64_t next_random(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

/* From 0 to a little more than 1; half of them in the first eighth, where LLVM is got ready. */
static double moment_of(uint64_t *seed) {
    double x = (double)(next_random(seed) % 1000) * 1e-3;
    return 1.1 * x * x * x;
}

/* How long it takes until everything is done, so that the moments are spread over that. */
static double life_us(Plan p) {
    p.way = BY_EXIT_AT_ONCE;
    p.moment_us = -1;
    Ending e = run_process(&p);
    if (!is_right(&p, &e)) {
        printf("nothing was done: status %#x, %s", (unsigned)e.status, e.output);
        exit(1);
    }
    return e.took_ms * 1e3;
}

static int run_all(int runs, uint64_t seed, char **libraries) {
    Plan p = {.libraries = libraries};
    double life[2], longest = 0;
    int failures = 0, ways = libraries ? WAYS : WAYS_LINKED;
    for (int i = 0; i < 2; i++) {
        p.in_thread = i;
        life[i] = life_us(p);
    }
    for (int i = 0; i < runs; i++) {
        p.way = (Way)(i % ways);
        p.in_thread = i / ways % 2;
        p.moment_us = moment_of(&seed) * life[p.in_thread];
        if (p.in_thread && p.way >= BY_UNLOADING)
            continue; /* a library whose code is running is not unloaded */
        Ending e = run_process(&p);
        longest = e.cpu_ms > longest ? e.cpu_ms : longest;
        if (is_right(&p, &e))
            continue;
        failures++;
        printf("%s%s after %.1f us: status %#x, %.0f ms of CPU time, %s\n", way_names[p.way],
               p.in_thread ? " (llvm)" : "", p.moment_us, (unsigned)e.status, e.cpu_ms, e.output);
    }
    printf("%d of %d ends were wrong; work takes %.0f and %.0f ms; at most %.0f ms of CPU time after the end\n",
           failures, runs, life[0] * 1e-3, life[1] * 1e-3, longest);
    return failures != 0;
}

int main(int argc, char **argv) {
    if (argc > 1 && !strcmp(argv[1], "done"))
        return puts("done") < 0;
    if (argc > 5 && !strcmp(argv[1], "once"))
        return run_once(argv);
    if (argc < 3)
        return 2;
    return run_all(atoi(argv[1]), strtoull(argv[2], NULL, 0), argc > 4 ? argv + 3 : NULL);
}
