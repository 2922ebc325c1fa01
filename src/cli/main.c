/* main.c: the lathe command: finds the subcommand and calls it, or executes lathe-tools if it needs LLVM. Under the
 * name lathe-KIND it is `lathe run` for programs of that kind of guest. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/options.h"
#include "cli/start/programs.h"
#include "isa/kinds.h"

typedef struct Command {
    const char *name, *summary;
    int (*run)(int argc, char **argv); /* NULL: it is in lathe-tools */
} Command;

static const Command commands[] = {
    {"run", "run a program, translated", command_run},
    {"compile", "translate programs and libraries ahead of time", NULL},
    {"raise", "translate a whole program into a native one", NULL},
    {"cache", "show or clear the code kept from earlier runs", command_cache},
    {"serve", "keep a translation server ready", command_serve},
    {"binopt", "specialise a function of a file, and compare", NULL},
    {"tool", "build a tool that watches programs", NULL},
    {"lift", "show a function of a program as LLVM-IR", NULL},
    {"explore", "show functions in a browser, from machine code to machine code", NULL},
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

static int unknown(const char *name) {
    fprintf(stderr, "lathe: unknown command '%s'", name);
    for (size_t i = 0; i < ARRAY_LEN(commands); i++)
        if (options_distance(commands[i].name, name) <= 2)
            fprintf(stderr, " (did you mean '%s'?)", commands[i].name);
    fprintf(stderr, "\nTry 'lathe --help'.\n");
    return 2;
}

/* Executes lathe-tools with the same arguments. Returns only if that fails. */
static int become_tools(char **argv) {
    char path[PATH_MAX];
    if (!programs_find("lathe-tools", path, sizeof(path)))
        return 1;
    execv(path, argv);
    fprintf(stderr, "lathe: %s: %s\n", path, strerror(errno));
    return 1;
}

/* `argv` is lathe's own; its last words belong to the command. */
static int run(const Command *c, int argc, char **argv) {
    return c->run ? c->run(argc - 1, argv + 1) : become_tools(argv);
}

static int help(int argc, char **argv) {
    if (argc < 3) {
        print_help();
        return 0;
    }
    const Command *c = find(argv[2]);
    char *ask[] = {argv[0], argv[2], "--help", NULL};
    return c ? run(c, 3, ask) : unknown(argv[2]);
}

/* The kind in a name like lathe-KIND; NULL for other names. */
static const Kind *kind_called(const char *name) {
    const char *slash = strrchr(name, '/');
    name = slash ? slash + 1 : name;
    return strncmp(name, "lathe-", 6) ? NULL : kind_of_name(name + 6);
}

/* Linux says so in the auxiliary vector if it keeps the argv[0] of the program that this one is started for: flag P of
 * binfmt_misc. */
static bool is_registered(void) {
    enum { PRESERVE_ARGV0 = 1 };
    return getauxval(AT_FLAGS) & PRESERVE_ARGV0;
}

int main(int argc, char **argv) {
    const Kind *kind = argc ? kind_called(argv[0]) : NULL;
    if (kind)
        return is_registered() ? command_run_registered(kind, argc, argv) : command_run_kind(kind, argc, argv);
    if (argc < 2) {
        fprintf(stderr, "usage: lathe COMMAND [OPTION]...\nTry 'lathe --help'.\n");
        return 2;
    }
    if (!strcmp(argv[1], "help"))
        return help(argc, argv);
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
        return help(2, argv);
    if (!strcmp(argv[1], "--version"))
        return become_tools(argv);
    const Command *c = find(argv[1]);
    return c ? run(c, argc, argv) : unknown(argv[1]);
}
