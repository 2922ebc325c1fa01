/* stepping.h: a program that the CPU executes one step at a time, for oracles of tools. Threads and children are not followed. */
#ifndef TESTS_STEPPING_H
#define TESTS_STEPPING_H

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

/* Starts the program, which waits before its first instruction. */
static void stepping_begin(char **argv) {
    int status;
    child = fork();
    if (!child) {
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        personality(ADDR_NO_RANDOMIZE);
        execv(argv[0], argv);
        perror(argv[0]);
        _exit(127);
    }
    if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
        exit(2);
}

static struct user_regs_struct stepping_registers(void) {
    struct user_regs_struct regs;
    if (ptrace(PTRACE_GETREGS, child, NULL, &regs)) {
        perror("PTRACE_GETREGS");
        exit(2);
    }
    return regs;
}

/* One step, handing a signal over. False: the program has ended. */
static int stepping_step(int sig, int *status) {
    if (ptrace(PTRACE_SINGLESTEP, child, NULL, (void *)(long)sig) || waitpid(child, status, 0) != child) {
        perror("PTRACE_SINGLESTEP");
        exit(2);
    }
    return WIFSTOPPED(*status);
}

/* What the program has stopped for: a step, a fault of the instruction, or a signal that somebody has sent. */
typedef enum Stop { STOP_STEP, STOP_FAULT, STOP_SIGNAL } Stop;

static Stop stepping_stop(int status) {
    siginfo_t info = {0};
    ptrace(PTRACE_GETSIGINFO, child, NULL, &info);
    if (WSTOPSIG(status) == SIGTRAP && info.si_code != SI_KERNEL)
        return STOP_STEP;
    return info.si_code > 0 ? STOP_FAULT : STOP_SIGNAL;
}

#endif
