/* tool.c: `lathe tool`: builds a tool for `lathe run --tool`, which does so by itself, and says what became of its functions. Several tools are built to
 * watch a program together. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/options.h"
#include "cli/start/tool_files.h"
#include "tool/build.h"
#include "tool/package.h"

typedef struct ToolSettings {
    const char *output;
} ToolSettings;

// clang-format off
static const Option table[] = {
    {"o", "FILE", "write the tool as it is built to FILE, and say nothing", OPTION_TEXT, offsetof(ToolSettings, output)},
    {0},
};
// clang-format on

static const OptionSet options = {
    .command = "lathe tool",
    .usage = "[-o FILE] NAME|FILE.c...",
    .about = "Builds a tool, or several into one, and says what becomes of each of its functions.",
    .table = table,
};

static int fail(const char *name, const char *why) {
    fprintf(stderr, "lathe: %s: %s\n", name, why);
    return 1;
}

/* Compiles the source to bitcode, and has a rule for make written with all files that it includes; clang says what is wrong with it. Quick code calls the functions with the
 * guest's values in registers: it looks at their instructions to see which of these they change, so no jump is computed, and a function returns by the address
 * that it was called with. Warnings that are mistakes are errors, because a tool that is in the cache is not compiled again, and nobody would see them. */
static bool compile(const char *source, u32 number, const char *bitcode, const char *rule) {
    char include[PATH_MAX], define[64];
    snprintf(define, sizeof(define), "-DLATHE_TOOL_NUMBER=%u", number);
    if (!tool_include(include, sizeof(include)))
        return false;
    pid_t child = fork();
    if (!child) {
        execlp("clang-19", "clang-19", "-std=gnu11", "-O2", "-Wall", "-Werror=format", "-Werror=format-extra-args",
               "-Werror=format-insufficient-args", "-Werror=format-invalid-specifier", "-Werror=excess-initializers",
               "-Werror=int-conversion", "-Werror=incompatible-pointer-types", "-Werror=return-type", "-ffreestanding",
               "-fPIC", "-fvisibility=hidden", "-fno-stack-protector", "-fno-optimize-sibling-calls",
               "-fno-jump-tables", "-mgeneral-regs-only", "-I", include, define, "-emit-llvm", "-c", source, "-o",
               bitcode, "-MMD", "-MF", rule, "-MT", "tool", (char *)NULL);
        fprintf(stderr, "lathe: clang-19, which compiles tools: %s\n", strerror(errno));
        _exit(127);
    }
    int status;
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

/* Writes the names behind the colon of make's rule, each with a zero behind it. Names are divided by spaces and ends of lines; a backslash or a dollar sign
 * makes the next character an ordinary one, but for the end of a line. */
static void read_rule(FILE *in, FILE *out) {
    bool inside = false;
    for (int c = fgetc(in); c != EOF && c != ':'; c = fgetc(in))
        ;
    for (int c = fgetc(in); c != EOF; c = fgetc(in)) {
        int next = c == '\\' || c == '$' ? fgetc(in) : 0;
        bool divides = !next ? c == ' ' || c == '\n' : next == '\n';
        if (divides && inside)
            fputc(0, out);
        else if (!divides)
            fputc(next && next != EOF ? next : c, out);
        inside = !divides;
    }
    if (inside)
        fputc(0, out);
}

/* Compiles all sources; writes to `paths` which files they are made of. */
static bool compile_all(const ToolSource *sources, u32 count, const char *rule, FILE *paths) {
    for (u32 i = 0; i < count; i++) {
        FILE *in = compile(sources[i].path, i + 1, sources[i].bitcode, rule) ? fopen(rule, "re") : NULL;
        if (!in)
            return false;
        read_rule(in, paths);
        fclose(in);
    }
    return true;
}

static void *build_from(const ToolSource *sources, u32 count, const char *rule, size_t *size) {
    char why[PATH_MAX + 200], *paths;
    ToolInputs inputs = {.sources = sources, .source_count = count};
    FILE *out = open_memstream(&paths, &inputs.size);
    CHECK(out, "out of memory");
    bool ok = compile_all(sources, count, rule, out);
    CHECK(fclose(out) == 0, "out of memory");
    inputs.paths = paths;
    void *package = NULL;
    if (ok && tool_identity(inputs.paths, inputs.size, &inputs.identity)) {
        package = tool_build(&inputs, size, why, sizeof(why));
        if (!package)
            fprintf(stderr, "lathe: %s\n", why);
    }
    free(paths);
    return package;
}

/* NULL after a message. */
static void *build(ToolSource *sources, u32 count, size_t *size) {
    char directory[] = "/tmp/lathe-tool-XXXXXX", rule[sizeof(directory) + 8];
    if (!mkdtemp(directory)) {
        fail(directory, strerror(errno));
        return NULL;
    }
    for (u32 i = 0; i < count; i++)
        snprintf(sources[i].bitcode, sizeof(sources[i].bitcode), "%s/%u.bc", directory, i);
    snprintf(rule, sizeof(rule), "%s/tool.d", directory);
    void *package = build_from(sources, count, rule, size);
    for (u32 i = 0; i < count; i++)
        unlink(sources[i].bitcode);
    unlink(rule);
    rmdir(directory);
    return package;
}

/* Whoever looks for the file finds all of it or nothing. */
static int write_package(const char *path, const void *package, size_t size) {
    char unfinished[PATH_MAX];
    if (snprintf(unfinished, sizeof(unfinished), "%s.%d", path, (int)getpid()) >= (int)sizeof(unfinished))
        return fail(path, "the path is too long");
    unlink(unfinished); /* a process of that number was killed */
    int fd = open(unfinished, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    FILE *out = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (!out)
        return fail(unfinished, strerror(errno));
    bool ok = fwrite(package, 1, size, out) == size;
    ok &= fclose(out) == 0;
    if (ok && rename(unfinished, path) == 0)
        return 0;
    int error = errno;
    unlink(unfinished);
    return fail(path, strerror(error));
}

static const char *what_becomes_of(const ToolPlan *plan) {
    switch ((ToolReason)plan->reason) {
    case TOOL_NO_REASON:
        return plan->kind == TOOL_COUNT ? "only counts: put between instructions" : "called";
    case TOOL_LATER_EVENT:
        return "called: the event is behind the instruction";
    case TOOL_HAS_CONDITIONS:
        return "called: it has conditions or loops";
    case TOOL_DOES_MORE:
        return "called: it does more than lathe_count of counters that are known";
    case TOOL_AMOUNT_VARIES:
        return "called: an amount is not constant";
    case TOOL_AMOUNT_LARGE:
        return "called: an amount is too large";
    case TOOL_MANY_ADDS:
        return "called: it has too many additions";
    case TOOL_KEY_VARIES:
        return "called: a key is not known when code is translated";
    case TOOL_IS_ONCE:
        return "called once at each instruction";
    }
    return "called";
}

/* A line for each hook. */
static void describe(const u8 *package) {
    ToolPackage head;
    memcpy(&head, package, sizeof(head));
    for (u32 i = 0; i < head.hook_count; i++) {
        ToolPlan plan;
        memcpy(&plan, package + sizeof(head) + i * sizeof(plan), sizeof(plan));
        printf("hook %u: %s\n", i + 1, what_becomes_of(&plan));
    }
}

static bool find_sources(char **names, u32 count, ToolSource *sources) {
    for (u32 i = 0; i < count; i++)
        if (!tool_source(names[i], sources[i].path, sizeof(sources[i].path)))
            return false;
        else if (access(sources[i].path, R_OK))
            return !fail(sources[i].path, strerror(errno));
    return true;
}

int command_tool(int argc, char **argv) {
    ToolSettings s = {0};
    ToolSource sources[TOOLS_MAX];
    size_t size;
    ParseResult parsed = options_parse(&options, &argc, argv, &s);
    if (parsed != PARSE_OK)
        return parsed == PARSE_HELP ? 0 : 2;
    if (argc < 1)
        return options_misuse(&options, "which tool?");
    if (argc > TOOLS_MAX)
        return options_misuse(&options, "at most %d tools at once", TOOLS_MAX);
    void *package = find_sources(argv + 1, (u32)argc, sources) ? build(sources, (u32)argc, &size) : NULL;
    if (!package)
        return 1;
    int status = 0;
    if (s.output)
        status = write_package(s.output, package, size);
    else
        describe(package);
    free(package);
    return status;
}
