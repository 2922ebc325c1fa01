/* spawn.c: other programs: vfork and exec, posix_spawn, system, popen, chains of exec; errors of them. */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int status_of(pid_t pid) {
    int status;
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        return -1;
    return WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void vforked(const char *self) {
    volatile int seen = 0;
    pid_t pid = vfork();
    if (pid == 0) {
        seen = 1; /* the memory is the parent's */
        execl(self, "spawn", "exit", "9", (char *)NULL);
        _exit(100);
    }
    printf("vfork: %d, seen %d\n", status_of(pid), seen);
    pid = vfork();
    if (pid == 0) {
        execl("/nonexistent/program", "program", (char *)NULL);
        seen = errno;
        _exit(101);
    }
    printf("vfork: %d, %s\n", status_of(pid), strerror(seen));
}

static void spawned(char *self) {
    pid_t pid;
    char *args[] = {"spawn", "echo", "by posix_spawn", NULL}, *plain[] = {"x", NULL};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    int error = posix_spawn(&pid, self, &actions, NULL, args, environ);
    printf("posix_spawn: %d, status %d\n", error, status_of(pid));
    posix_spawn_file_actions_destroy(&actions);
    printf("posix_spawn: %s\n", strerror(posix_spawn(&pid, "/nonexistent/program", NULL, NULL, plain, environ)));
    printf("posix_spawn: %s\n", strerror(posix_spawn(&pid, "/etc/passwd", NULL, NULL, plain, environ)));
    args[0] = "true", args[1] = NULL;
    error = posix_spawnp(&pid, "true", NULL, NULL, args, environ);
    printf("posix_spawnp: %d, status %d\n", error, status_of(pid));
}

static void shells(void) {
    int status = system("exit 5");
    printf("system: %d\n", WEXITSTATUS(status));
    status = system("kill -TERM $$");
    printf("system: killed by %d\n", WTERMSIG(status));
    FILE *out = popen("echo one; echo two | tr a-z A-Z", "r");
    char line[100];
    while (out && fgets(line, sizeof(line), out))
        printf("popen: %s", line);
    printf("pclose: %d\n", out ? pclose(out) : -1);
    FILE *in = popen("cat", "w");
    fputs("through cat\n", in);
    pclose(in);
}

static void chain(const char *self, int left) {
    char number[20];
    sprintf(number, "%d", left - 1);
    execl(self, "spawn", "chain", number, (char *)NULL);
    perror("execl");
    exit(1);
}

int main(int argc, char **argv) {
    static char self[4096];
    setvbuf(stdout, NULL, _IONBF, 0);
    if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
        return 1;
    if (argc > 2 && !strcmp(argv[1], "exit"))
        return atoi(argv[2]);
    if (argc > 2 && !strcmp(argv[1], "echo"))
        return puts(argv[2]) < 0;
    if (argc > 2 && !strcmp(argv[1], "chain")) {
        printf("%s ", argv[2]);
        if (atoi(argv[2]))
            chain(self, atoi(argv[2]));
        printf("end of the chain\n");
        return 3;
    }
    vforked(self);
    spawned(self);
    shells();
    chain(self, 5);
}
