/* steps.c: steps PROGRAM [ARG]...: how many instructions a program executes, by single steps of the CPU: the oracle of tools that count. The program's
 * output is its own; the number goes to standard error.
 *
 * An instruction that faults counts each time that it is begun. The CPU also stops inside a repeated string instruction, after each pass; and the kernel
 * stops a program where the handler of a signal begins. Neither is an instruction. */
#include "stepping.h"

int main(int argc, char **argv) {
    int status, sig = 0;
    if (argc < 2)
        return 2;
    stepping_begin(argv + 1);
    unsigned long count = 0;
    for (unsigned long long before = stepping_registers().rip, after; stepping_step(sig, &status); before = after) {
        int handled = sig;
        Stop stop = stepping_stop(status);
        sig = stop == STOP_STEP ? 0 : WSTOPSIG(status);
        after = stepping_registers().rip;
        count += stop == STOP_FAULT || (stop == STOP_STEP && !handled && before != after);
    }
    /* If it has exited, its last instruction was a system call. */
    fprintf(stderr, "%lu instructions\n", count + WIFEXITED(status));
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
