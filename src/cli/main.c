/* main.c: the lathe command: finds the subcommand and hands over. */
#include <llvm-c/Core.h>
#include <stdio.h>

#include "cli/commands.h"
#include "cli/options.h"
#include "cli/version.h"

typedef struct Command {
    const char *name, *summary;
    int (*run)(int argc, char **argv);
} Command;

static const Command commands[] = {
    {"lift", "show a function of a program as LLVM-IR", command_lift},
};

static const Command *find(const char *name) {
    for (size_t i = 0; i < ARRAY_LEN(commands); i++)
        if (!strcmp(commands[i].name, name))
            return &commands[i];
    return NULL;
}

static void print_help(void) {
    printf(
        "usage: lathe COMMAND [OPTION]...\n\nLifts machine code to LLVM-IR and puts it back to work.\n\nCommands:\n");
    for (size_t i = 0; i < ARRAY_LEN(commands); i++)
        printf("  %-12s %s\n", commands[i].name, commands[i].summary);
    printf("  %-12s %s\n", "help", "describe a command: lathe help COMMAND");
    printf("\n  --help       this text\n  --version    the version, and that of LLVM\n");
}

static void print_version(void) {
    unsigned major, minor, patch;
    LLVMGetVersion(&major, &minor, &patch);
    printf("lathe %s (LLVM %u.%u.%u)\n", LATHE_VERSION, major, minor, patch);
}

static int unknown(const char *name) {
    fprintf(stderr, "lathe: unknown command '%s'", name);
    for (size_t i = 0; i < ARRAY_LEN(commands); i++)
        if (options_distance(commands[i].name, name) <= 2)
            fprintf(stderr, " (did you mean '%s'?)", commands[i].name);
    fprintf(stderr, "\nTry 'lathe --help'.\n");
    return 2;
}

static int help(int argc, char **argv) {
    if (argc < 2) {
        print_help();
        return 0;
    }
    const Command *c = find(argv[1]);
    char *ask[] = {argv[1], "--help", NULL};
    return c ? c->run(2, ask) : unknown(argv[1]);
}

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: lathe COMMAND [OPTION]...\nTry 'lathe --help'.\n");
        return 2;
    }
    if (!strcmp(argv[1], "help"))
        return help(argc - 1, argv + 1);
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
        return help(1, argv);
    if (!strcmp(argv[1], "--version")) {
        print_version();
        return 0;
    }
    const Command *c = find(argv[1]);
    return c ? c->run(argc - 1, argv + 1) : unknown(argv[1]);
}
