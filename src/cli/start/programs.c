/* programs.c: see programs.h. */
#include "cli/start/programs.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/version.h"
#include "cache/pack.h"
#include "cli/start/shared.h"

static bool directory_of_self(char *path, size_t size) {
    ssize_t len = readlink("/proc/self/exe", path, size - 1);
    if (len <= 0)
        return false;
    path[len] = 0;
    *strrchr(path, '/') = 0;
    return true;
}

static bool exists(char *path, size_t size, const char *dir, const char *relative, const char *name) {
    int len = snprintf(path, size, "%s%s/%s", dir, relative, name);
    return len > 0 && (size_t)len < size && access(path, X_OK) == 0;
}

/* Relative to lathe's own directory: in a build directory, and where it is installed. */
static const char *const places[] = {"", "/src/run/client", "/src/run/server", "/../libexec/lathe"};

bool programs_beside(const char *relative, const char *name, char *path, size_t size) {
    char self[PATH_MAX];
    bool known = directory_of_self(self, sizeof(self));
    int len = known ? snprintf(path, size, "%s%s/%s", self, relative, name) : -1;
    return len > 0 && (size_t)len < size && access(path, R_OK) == 0;
}

bool programs_find(const char *name, char *path, size_t size) {
    char self[PATH_MAX], where[PATH_MAX]; /* absolute, because the program may change its directory */
    const char *chosen = getenv("LATHE_LIBEXEC");
    if (chosen && *chosen && programs_absolute(chosen, where, sizeof(where)) && exists(path, size, where, "", name))
        return true;
    bool known = directory_of_self(self, sizeof(self));
    for (size_t i = 0; known && i < ARRAY_LEN(places); i++)
        if (exists(path, size, self, places[i], name))
            return true;
    if (exists(path, size, LATHE_LIBEXECDIR, "", name))
        return true;
    fprintf(stderr, "lathe: %s is missing: LATHE_LIBEXEC can name its directory\n", name);
    return false;
}

/* The XDG base directory specification says that relative paths are ignored. */
static bool usual_cache_dir(char *path, size_t size) {
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int len = 0;
    if (cache && *cache == '/')
        len = snprintf(path, size, "%s/lathe", cache);
    else if (home && *home == '/')
        len = snprintf(path, size, "%s/.cache/lathe", home);
    return len >= 0 && (size_t)len < size;
}

bool programs_absolute(const char *given, char *path, size_t size) {
    char here[PATH_MAX];
    bool relative = *given != '/' && getcwd(here, sizeof(here));
    int len = snprintf(path, size, "%s%s%s", relative ? here : "", relative ? "/" : "", given);
    return len >= 0 && (size_t)len < size;
}

/* Lathe runs what it finds there, so nobody else may have written it. */
static const char *distrust(const char *dir) {
    struct stat st;
    if (!*dir || stat(dir, &st))
        return NULL;
    if (!S_ISDIR(st.st_mode))
        return "not a directory";
    if (st.st_uid != geteuid())
        return "it belongs to another user";
    return pack_is_private(st.st_uid, st.st_mode, geteuid()) ? NULL : "others can write to it";
}

void programs_cache_check(char *path) {
    const char *why = distrust(path);
    if (!why)
        return;
    fprintf(stderr, "lathe: the cache %s is not used: %s\n", path, why);
    *path = 0;
}

bool programs_cache_dir(const char *choice, char *path, size_t size) {
    const char *shared = shared_part(choice);
    char local[PATH_MAX] = "";
    *path = 0;
    if (shared && shared - choice < PATH_MAX)
        memcpy(local, choice, (size_t)(shared - choice));
    if (*local)
        local[shared - choice - 1] = 0; /* replaces the comma */
    if (shared)
        choice = shared == choice ? NULL : local;
    if (choice && (!*choice || !strcmp(choice, "none")))
        return true;
    if (choice ? programs_absolute(choice, path, size) : usual_cache_dir(path, size))
        return true;
    fprintf(stderr, "lathe: the path of the cache directory is too long\n");
    return false;
}
