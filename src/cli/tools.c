/* tools.c: lathe-tools: the subcommands of lathe that need LLVM. Users start lathe, which executes this program. */
#include <llvm-c/Core.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/version.h"
#include "cli/commands.h"

static int print_version(void) {
    unsigned major, minor, patch;
    LLVMGetVersion(&major, &minor, &patch);
    printf("lathe %s (LLVM %u.%u.%u)\n", LATHE_VERSION, major, minor, patch);
    return 0;
}

int main(int argc, char **argv) {
    /* A file larger than the user's limit gives an error message and does not kill this process. */
    signal(SIGXFSZ, SIG_IGN);
    if (argc > 1 && !strcmp(argv[1], "--version"))
        return print_version();
    if (argc > 1 && !strcmp(argv[1], "lift"))
        return command_lift(argc - 1, argv + 1);
    if (argc > 1 && !strcmp(argv[1], "explore"))
        return command_explore(argc - 1, argv + 1);
    if (argc > 1 && !strcmp(argv[1], "compile"))
        return command_compile(argc - 1, argv + 1);
    if (argc > 1 && !strcmp(argv[1], "binopt"))
        return command_binopt(argc - 1, argv + 1);
    if (argc > 1 && !strcmp(argv[1], "raise"))
        return command_raise(argc - 1, argv + 1);
    if (argc > 1 && !strcmp(argv[1], "tool"))
        return command_tool(argc - 1, argv + 1);
    if (argc > 1 && !strcmp(argv[1], "lines"))
        return command_lines();
    fprintf(stderr, "lathe-tools is a part of lathe; try 'lathe --help'\n");
    return 2;
}
