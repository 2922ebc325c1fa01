/* tool_files.c: see tool_files.h. */
#include "cli/start/tool_files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cache/pack.h"
#include "cli/start/identity.h"
#include "cli/start/programs.h"
#include "tool/package.h"

static bool fail(const char *name, const char *why) {
    fprintf(stderr, "lathe: %s: %s\n", name, why);
    return false;
}

/* ---------------------------------------------------------------------------------------------------------- the source */

/* A file of Lathe's: in a source tree, and where lathe and lathe-tools are installed. */
static bool find_file(const char *in_tree, const char *installed, const char *file, char *path, size_t size) {
    char from_bin[PATH_MAX], from_libexec[PATH_MAX];
    snprintf(from_bin, sizeof(from_bin), "/../%s", installed);
    snprintf(from_libexec, sizeof(from_libexec), "/../../%s", installed);
    return programs_beside(in_tree, file, path, size) || programs_beside(from_bin, file, path, size) ||
           programs_beside(from_libexec, file, path, size);
}

static bool is_path(const char *name) {
    size_t len = strlen(name);
    return strchr(name, '/') || (len > 2 && !strcmp(name + len - 2, ".c"));
}

bool tool_source(const char *name, char *path, size_t size) {
    char file[NAME_MAX];
    if (is_path(name))
        return programs_absolute(name, path, size) ? true : fail(name, "the path is too long");
    if (snprintf(file, sizeof(file), "%s.c", name) >= (int)sizeof(file))
        return fail(name, "the name is too long");
    return find_file("/../tools", "share/lathe/tools", file, path, size)
               ? true
               : fail(name, "no tool of this name; a path has a slash or ends in .c");
}

static void short_name(const char *name, char *text) {
    const char *slash = strrchr(name, '/');
    strcpy(text, slash ? slash + 1 : name);
    size_t len = strlen(text);
    if (len > 2 && !strcmp(text + len - 2, ".c"))
        text[len - 2] = 0;
}

bool tool_include(char *path, size_t size) {
    char header[PATH_MAX];
    if (!find_file("/../include", "include", "lathe/tool.h", header, sizeof(header)))
        return fail("lathe/tool.h", "not found beside lathe");
    header[strlen(header) - strlen("/lathe/tool.h")] = 0;
    return snprintf(path, size, "%s", header) < (int)size ? true : fail(header, "the path is too long");
}

/* --------------------------------------------------------------------------------------------------------- its package */

static bool hash_file(const char *path, u64 *hash) {
    char bytes[4096];
    FILE *in = fopen(path, "re");
    if (!in)
        return fail(path, strerror(errno));
    for (size_t n; (n = fread(bytes, 1, sizeof(bytes), in));)
        *hash = pack_hash(*hash, bytes, n);
    *hash = pack_hash(*hash, "", 1);
    bool ok = !ferror(in);
    fclose(in);
    return ok ? true : fail(path, "cannot be read");
}

bool tool_identity(const char *paths, size_t size, u64 *identity) {
    char builder[PATH_MAX], digits[IDENTITY_SIZE];
    *identity = PACK_HASH_START;
    if (!programs_find("lathe-tools", builder, sizeof(builder)))
        return false;
    identity_of(builder, digits);
    *identity = pack_hash(*identity, digits, strlen(digits));
    for (const char *path = paths; path < paths + size; path += strlen(path) + 1)
        if (!hash_file(path, identity))
            return false;
    return true;
}

/* The sources of tools. */
typedef struct Sources {
    char path[TOOLS_MAX][PATH_MAX];
    u32 count;
} Sources;

static bool find_sources(const char *const *names, u32 count, Sources *s) {
    for (s->count = 0; s->count < count; s->count++)
        if (!tool_source(names[s->count], s->path[s->count], PATH_MAX))
            return false;
    return true;
}

/* Equal files in two directories are two tools, since what they include may differ. */
static bool identity_of_sources(const Sources *s, u64 *identity) {
    char paths[sizeof(s->path)];
    size_t size = 0;
    for (u32 i = 0; i < s->count; i++)
        size += (size_t)snprintf(paths + size, sizeof(paths) - size, "%s", s->path[i]) + 1;
    bool ok = tool_identity(paths, size, identity);
    *identity = pack_hash(*identity, paths, size);
    return ok;
}

/* Starts `lathe-tools tool -o PACKAGE SOURCE...` and waits for it; it has said what is wrong. */
static bool build(const Sources *s, const char *package) {
    enum { WORDS = 4 };
    char builder[PATH_MAX];
    const char *words[WORDS + TOOLS_MAX + 1] = {"lathe", "tool", "-o", package};
    for (u32 i = 0; i < s->count; i++)
        words[WORDS + i] = s->path[i];
    if (!programs_find("lathe-tools", builder, sizeof(builder)))
        return false;
    pid_t child = fork();
    if (!child) {
        execv(builder, (char **)words);
        _exit(127);
    }
    int status;
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

/* The directory and those above it that are missing. */
static void make_directories(char *path) {
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(path, 0777);
        *slash = '/';
    }
    mkdir(path, 0700);
}

/* Packages are among the packs of the cache, whose bound holds for them, too; or, if there is no cache, where the system has temporary files. */
static bool packages_dir(const char *cache, char *path, size_t size) {
    const char *tmp = getenv("TMPDIR");
    struct stat st;
    int len = *cache ? snprintf(path, size, "%s", cache)
                     : snprintf(path, size, "%s/lathe-tools-%u", tmp && *tmp == '/' ? tmp : "/tmp", (u32)getuid());
    if (len < 0 || (size_t)len >= size)
        return fail(cache, "the path is too long");
    make_directories(path);
    if (stat(path, &st) || !S_ISDIR(st.st_mode) || st.st_uid != geteuid() || st.st_mode & (S_IWGRP | S_IWOTH))
        return fail(path, "no directory of one's own for tools that are built");
    return true;
}

/* Are all files that it was made of what they were? One that is gone may not be needed any more: the compiler knows. */
static bool is_current(const ToolParts *parts) {
    u64 identity;
    const char *end = parts->inputs + parts->head->inputs_size;
    for (const char *path = parts->inputs; path < end; path += strlen(path) + 1)
        if (access(path, R_OK))
            return false;
    return tool_identity(parts->inputs, parts->head->inputs_size, &identity) && parts->head->identity == identity;
}

/* The client runs its code, so nobody else may be able to write it. What is damaged is not there. */
static bool is_whole(const char *path) {
    struct stat st;
    ToolParts parts;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    bool ours = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
                !(st.st_mode & (S_IWGRP | S_IWOTH)) && st.st_size > (off_t)sizeof(ToolPackage);
    size_t size = ours ? (size_t)st.st_size : 0;
    const u8 *bytes = ours ? mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    if (fd >= 0)
        close(fd);
    if (bytes == MAP_FAILED)
        return false;
    bool whole =
        tool_open(bytes, size, &parts) &&
        parts.head->checksum == pack_hash(PACK_HASH_START, bytes + sizeof(ToolPackage), size - sizeof(ToolPackage)) &&
        is_current(&parts);
    munmap((void *)bytes, size);
    return whole;
}

static bool tool_package(const char *const *names, u32 count, const char *cache, char *path, size_t size) {
    char dir[PATH_MAX], file[PACK_NAME_SIZE];
    Sources sources;
    u64 identity;
    if (!find_sources(names, count, &sources) || !identity_of_sources(&sources, &identity) ||
        !packages_dir(cache, dir, sizeof(dir)))
        return false;
    pack_name((Key){{identity, TOOL_MAGIC}}, file);
    if (snprintf(path, size, "%s/%s", dir, file) >= (int)size)
        return fail(dir, "the path is too long");
    return is_whole(path) || build(&sources, path);
}

/* Of NAME,key=value,…, the name that the tool is found by; and the same with the name that messages have, behind those of other tools. */
static bool read_tool(const char *text, char name[PATH_MAX], char options[TOOL_OPTIONS_SIZE]) {
    char shorter[PATH_MAX];
    size_t len = strcspn(text, ","), used = strlen(options);
    if (snprintf(name, PATH_MAX, "%.*s", (int)len, text) >= PATH_MAX)
        return false;
    short_name(name, shorter);
    if (used)
        used += (size_t)snprintf(options + used, TOOL_OPTIONS_SIZE - used, "%c", TOOL_OPTIONS_DIVIDER);
    return used < TOOL_OPTIONS_SIZE && snprintf(options + used, TOOL_OPTIONS_SIZE - used, "%s%s", shorter, text + len) <
                                           (int)(TOOL_OPTIONS_SIZE - used);
}

bool tool_packages(const char *const *texts, u32 count, const char *cache, char *path, size_t size,
                   char options[TOOL_OPTIONS_SIZE]) {
    char name[TOOLS_MAX][PATH_MAX];
    const char *names[TOOLS_MAX];
    *options = 0;
    if (count > TOOLS_MAX)
        return fail(texts[TOOLS_MAX], "too many tools");
    for (u32 i = 0; i < count; i++) {
        if (!read_tool(texts[i], name[i], options))
            return fail(texts[i], "the name of the tool, or its options, are too long");
        names[i] = name[i];
    }
    return tool_package(names, count, cache, path, size);
}
