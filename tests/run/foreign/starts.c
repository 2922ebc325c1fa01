/* starts.c: starts the program that its arguments say, by fork or, as "-spawn", by posix_spawn; tells how it ended, and of what machine this
 * program itself is. */
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static pid_t start(char **argv, int spawn) {
    pid_t pid;
    if (spawn) {
        int error = posix_spawn(&pid, argv[0], NULL, NULL, argv, environ);
        if (error)
            printf("not spawned: %s\n", strerror(error));
        return error ? -1 : pid;
    }
    pid = fork();
    if (pid)
        return pid;
    execv(argv[0], argv);
    printf("not executed: %s\n", strerror(errno));
    fflush(stdout);
    _exit(99);
}

int main(int argc, char **argv) {
    struct utsname names;
    int spawn = argc > 1 && !strcmp(argv[1], "-spawn"), status = -1;
    uname(&names);
    printf("%s starts %s\n", names.machine, argv[1 + spawn]);
    fflush(stdout);
    pid_t pid = start(argv + 1 + spawn, spawn);
    if (pid > 0)
        waitpid(pid, &status, 0);
    printf("%s: status %d\n", names.machine, pid > 0 ? WEXITSTATUS(status) : -1);
    return 0;
}
