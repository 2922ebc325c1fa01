/* reaping.c: waits of a process that may be the first of its PID namespace: it sees its children, those that it adopts, and nobody else. What
 * takes long enough to be worth a translation is done between. */
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t told;

static void count(int signal) {
    (void)signal;
    told++;
}

__attribute__((noinline)) static unsigned work(unsigned seed) {
    for (int i = 0; i < 30000000; i++)
        seed = seed * 1664525 + 1013904223 + (seed >> 7);
    return seed;
}

/* Waits until nobody is left; prints what became of whom. */
static void wait_for_all(const char *who, pid_t child) {
    int status;
    pid_t pid;
    while ((pid = wait(&status)) > 0)
        printf("%s: %s, status %x\n", who, pid == child ? "the child" : "another one", (unsigned)status);
    printf("%s: %s\n", who, strerror(errno));
    siginfo_t info;
    int result = waitid(P_ALL, 0, &info, WEXITED | WSTOPPED | WCONTINUED | WNOHANG);
    printf("%s: waitid %d %s\n", who, result, strerror(errno));
    fflush(stdout);
}

static void children(void) {
    pid_t child = fork();
    if (!child)
        _exit(work(1) & 63);
    wait_for_all("fork", child);
    child = vfork();
    if (!child)
        _exit(7);
    wait_for_all("vfork", child);
}

/* The orphan ends when its parent has been waited for. */
static void orphans(void) {
    int ready[2], status;
    char c;
    pipe(ready);
    pid_t child = fork();
    if (!child) {
        if (!fork()) {
            close(ready[1]);
            read(ready[0], &c, 1);
            _exit(work(2) & 63);
        }
        _exit(5);
    }
    waitpid(child, &status, 0);
    printf("orphans: status %x\n", (unsigned)status);
    close(ready[1]);
    wait_for_all("orphans", child);
    close(ready[0]);
}

static void programs(char *self, char **environment) {
    char *words[] = {self, "work", NULL};
    pid_t child;
    posix_spawn(&child, "/proc/self/exe", NULL, NULL, words, environment);
    wait_for_all("spawn", child);
    printf("system %x\n", (unsigned)system("exit 3"));
    wait_for_all("system", 0);
}

/* All others are killed, only where that harms nobody. Lathe's own are killed with them and may then be seen once; what comes later is as before. */
static void kill_all(void) {
    pid_t child = fork();
    if (!child)
        for (;;)
            pause();
    kill(getpid() == 1 ? -1 : child, SIGKILL);
    while (wait(NULL) > 0)
        ;
    printf("%u\n", work(3));
    wait_for_all("killed", 0);
    children();
}

int main(int argc, char **argv, char **environment) {
    if (argc > 1 && !strcmp(argv[1], "work"))
        return work(4) & 63;
    if (argc > 1) {
        printf("%u\n", work(5));
        wait_for_all("again", 0);
        kill_all();
        return 0;
    }
    signal(SIGCHLD, count);
    printf("%u\n", work(6));
    wait_for_all("nobody", 0);
    children();
    orphans();
    programs(argv[0], environment);
    printf("%u, told %d times\n", work(7), told);
    fflush(stdout);
    execl("/proc/self/exe", argv[0], "again", NULL);
    return 1;
}
