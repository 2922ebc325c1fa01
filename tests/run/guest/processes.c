/* processes.c: fork, pipes, waiting, orphans of state: what children change stays theirs. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static int collatz(unsigned long n) {
    int steps = 0;
    for (; n != 1; steps++)
        n = n % 2 ? 3 * n + 1 : n / 2;
    return steps;
}

/* Sixteen children at once, each with an answer through its own pipe. */
static void workers(void) {
    int fd[16][2], sum = 0;
    pid_t pid[16];
    for (int i = 0; i < 16; i++) {
        if (pipe(fd[i]))
            exit(1);
        pid[i] = fork();
        if (pid[i] == 0) {
            int steps = collatz(27 + (unsigned)i);
            exit(write(fd[i][1], &steps, sizeof(steps)) != sizeof(steps));
        }
        close(fd[i][1]);
    }
    for (int i = 0; i < 16; i++) {
        int steps = 0, status;
        if (read(fd[i][0], &steps, sizeof(steps)) != sizeof(steps))
            printf("no answer\n");
        close(fd[i][0]);
        sum += steps;
        if (waitpid(pid[i], &status, 0) != pid[i] || status)
            printf("bad end\n");
    }
    printf("workers: %d\n", sum);
}

/* A child of a child of a child …: code is found after many forks. */
static int generations(int left) {
    if (left == 0)
        return 1;
    pid_t pid = fork();
    if (pid == 0)
        _exit(generations(left - 1) + 1);
    int status;
    waitpid(pid, &status, 0);
    return WEXITSTATUS(status);
}

static void own_memory(void) {
    int *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    volatile int mine = 1;
    pid_t pid = fork();
    if (pid == 0) {
        mine = 2;
        shared[0] = 10 + mine;
        _exit(0);
    }
    waitpid(pid, NULL, 0);
    printf("mine %d, shared %d\n", mine, shared[0]);
}

static void killed(void) {
    pid_t pid = fork();
    if (pid == 0)
        for (;;)
            pause();
    kill(pid, SIGTERM);
    int status;
    waitpid(pid, &status, 0);
    printf("killed by %d\n", WIFSIGNALED(status) ? WTERMSIG(status) : -1);
    pid = fork();
    if (pid == 0)
        for (volatile int i = 0;; i++)
            ;
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    printf("killed by %d\n", WIFSIGNALED(status) ? WTERMSIG(status) : -1);
}

int main(void) {
    setvbuf(stdout, NULL, _IONBF, 0);
    workers();
    printf("generations: %d\n", generations(12));
    own_memory();
    killed();
    printf("no children: %d\n", wait(NULL));
    return 0;
}
