/* status.c: ends in the way its argument says. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static void at_exit(void) {
    puts("at exit");
}

__attribute__((noinline)) static int overflow(int n) {
    volatile char page[4096];
    page[n & 4095] = (char)n;
    return n < 0 ? 0 : overflow(n + 1) + page[n & 4095];
}

static void ignore(int sig) {
    (void)sig;
}

int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : "";
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    puts("before");
    atexit(at_exit);
    if (*how >= '0' && *how <= '9')
        exit(atoi(how));
    fflush(stdout);
    if (!strcmp(how, "_exit"))
        _exit(17);
    if (!strcmp(how, "abort"))
        abort();
    if (!strcmp(how, "load"))
        return *(volatile int *)8;
    if (!strcmp(how, "store"))
        *(volatile char *)(void *)main = 1;
    if (!strcmp(how, "jump"))
        ((void (*)(void))0)();
    if (!strcmp(how, "divide"))
        return 1 / (argc - 2);
    if (!strcmp(how, "undefined"))
        __builtin_trap();
    if (!strcmp(how, "overflow"))
        return overflow(0);
    if (!strcmp(how, "caught-abort")) {
        signal(SIGABRT, ignore);
        abort();
    }
    if (!strcmp(how, "kill"))
        kill(getpid(), SIGKILL);
    if (!strcmp(how, "pipe")) {
        int fd[2];
        if (pipe(fd) == 0 && close(fd[0]) == 0)
            return (int)write(fd[1], "x", 1);
    }
    if (!strncmp(how, "sig", 3))
        raise(atoi(how + 3));
    return argc - 1;
}
