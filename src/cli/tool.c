/* tool.c: `lathe tool`: builds a tool for `lathe run --tool`, which does so by itself, and says what became of its functions. */
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
    .usage = "[-o FILE] NAME|FILE.c",
    .about = "Builds a tool, and says what becomes of each of its functions.",
    .table = table,
};

static int fail(const char *name, const char *why) {
    fprintf(stderr, "lathe: %s: %s\n", name, why);
    return 1;
}

/* Compiles the source to bitcode; clang says what is wrong with it. */
static bool compile(const char *source, const char *bitcode) {
    char include[PATH_MAX];
    if (!tool_include(include, sizeof(include)))
        return false;
    pid_t child = fork();
    if (!child) {
        execlp("clang-19", "clang-19", "-std=gnu11", "-O2", "-Wall", "-ffreestanding", "-fPIC", "-fvisibility=hidden",
               "-fno-stack-protector", "-mgeneral-regs-only", "-I", include, "-emit-llvm", "-c", source, "-o", bitcode,
               (char *)NULL);
        fprintf(stderr, "lathe: clang-19, which compiles tools: %s\n", strerror(errno));
        _exit(127);
    }
    int status;
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static void *build(const char *source, size_t *size) {
    char bitcode[] = "/tmp/lathe-tool-XXXXXX", why[200];
    int fd = mkstemp(bitcode);
    u64 identity;
    void *package = NULL;
    if (fd < 0) {
        fail(bitcode, strerror(errno));
        return NULL;
    }
    close(fd);
    if (tool_identity(source, &identity) && compile(source, bitcode)) {
        package = tool_build(bitcode, identity, size, why, sizeof(why));
        if (!package)
            fail(source, why);
    }
    unlink(bitcode);
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

/* A line for each hook. */
static void describe(const u8 *package) {
    ToolPackage head;
    memcpy(&head, package, sizeof(head));
    for (u32 i = 0; i < head.hook_count; i++) {
        ToolPlan plan;
        memcpy(&plan, package + sizeof(head) + i * sizeof(plan), sizeof(plan));
        printf("hook %u: %s\n", i + 1, plan.kind == TOOL_COUNT ? "only counts: put between instructions" : "called");
    }
}

int command_tool(int argc, char **argv) {
    ToolSettings s = {0};
    char source[PATH_MAX];
    size_t size;
    ParseResult parsed = options_parse(&options, &argc, argv, &s);
    if (parsed != PARSE_OK)
        return parsed == PARSE_HELP ? 0 : 2;
    if (argc != 1)
        return options_misuse(&options, "which tool?");
    void *package = tool_source(argv[1], source, sizeof(source)) ? build(source, &size) : NULL;
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
