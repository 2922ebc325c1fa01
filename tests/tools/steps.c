/* steps.c: steps PROGRAM [ARG]...: how many instructions a program executes, by single steps of the CPU: the oracle of tools that count. The program's
 * output is its own; the number goes to standard error. Threads and children are not followed.
 *
 * An instruction that faults counts each time that it is begun. The CPU also stops inside a repeated string instruction, after each pass; and the kernel
 * stops a program where the handler of a signal begins. Neither is an instruction. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t child;

static void begin(char **argv) {
    ptrace(PTRACE_TRACEME, 0, NULL, NULL);
    personality(ADDR_NO_RANDOMIZE);
    execv(argv[0], argv);
    perror(argv[0]);
    _exit(127);
}

static unsigned long long place(void) {
    struct user_regs_struct regs;
    if (ptrace(PTRACE_GETREGS, child, NULL, &regs)) {
        perror("steps: PTRACE_GETREGS");
        exit(2);
    }
    return regs.rip;
}

/* One step, handing a signal over. False: the program has ended. */
static int step(int sig, int *status) {
    if (ptrace(PTRACE_SINGLESTEP, child, NULL, (void *)(long)sig) || waitpid(child, status, 0) != child) {
        perror("steps: PTRACE_SINGLESTEP");
        exit(2);
    }
    return WIFSTOPPED(*status);
}

/* What the program has stopped for: a step, a fault of the instruction, or a signal that somebody has sent. */
typedef enum Stop { STOP_STEP, STOP_FAULT, STOP_SIGNAL } Stop;

static Stop stop_of(int status) {
    siginfo_t info = {0};
    ptrace(PTRACE_GETSIGINFO, child, NULL, &info);
    if (WSTOPSIG(status) == SIGTRAP && info.si_code != SI_KERNEL)
        return STOP_STEP;
    return info.si_code > 0 ? STOP_FAULT : STOP_SIGNAL;
}

int main(int argc, char **argv) {
    int status, sig = 0;
    if (argc < 2)
        return 2;
    child = fork();
    if (!child)
        begin(argv + 1);
    if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
        return 2;
    unsigned long count = 0;
    for (unsigned long long before = place(), after; step(sig, &status); before = after) {
        int handled = sig;
        Stop stop = stop_of(status);
        sig = stop == STOP_STEP ? 0 : WSTOPSIG(status);
        after = place();
        count += stop == STOP_FAULT || (stop == STOP_STEP && !handled && before != after);
    }
    /* If it has exited, its last instruction was a system call. */
    fprintf(stderr, "%lu instructions\n", count + WIFEXITED(status));
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
