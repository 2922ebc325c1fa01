/* badstack.c: signals whose handlers have no stack to run on: the program dies of SIGSEGV, whatever is wrong with the stack. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BYTES = 1 << 16 };

static void on_signal(int sig) {
    printf("handled %d\n", sig);
    fflush(stdout);
}

static char *no_access(void) {
    return mmap(NULL, BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static char *read_only(void) {
    return mmap(NULL, BYTES, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static char *unmapped(void) {
    char *p = no_access();
    munmap(p, BYTES);
    return p;
}

static char *beyond_end(void) {
    return mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, memfd_create("empty", 0), 0);
}

static char *good(void) {
    return mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void die_by(const char *name, char *(*stack)(void), int sig) {
    int status;
    fflush(stdout);
    if (!fork()) {
        struct sigaction a = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
        sigaltstack(&(stack_t){.ss_sp = stack(), .ss_size = BYTES}, NULL);
        sigaction(sig, &a, NULL);
        if (sig == SIGSEGV)
            *(volatile int *)8 = 1;
        raise(sig);
        _exit(3);
    }
    wait(&status);
    printf("%s, %d: %s %d\n", name, sig, WIFEXITED(status) ? "status" : "signal",
           WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
}

int main(void) {
    static const int signals[] = {SIGUSR1, SIGSEGV, SIGTRAP};
    for (int i = 0; i < 3; i++) {
        die_by("no access", no_access, signals[i]);
        die_by("read only", read_only, signals[i]);
        die_by("unmapped", unmapped, signals[i]);
        die_by("beyond the end of a file", beyond_end, signals[i]);
    }
    die_by("good", good, SIGUSR1);
    return 0;
}
