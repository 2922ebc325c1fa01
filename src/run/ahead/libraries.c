/* libraries.c: where the dynamic linker finds a library: ld.so(8), "the library is searched for in the following
 * order".
 *
 * A library built for x86-64-v2, which is what guests see of the CPU, is preferred to the plain one beside it. Files
 * for other machines are passed over. */
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run/ahead/ahead.h"

#define CACHE_FILE "/etc/ld.so.cache"
#define CACHE_MAGIC "glibc-ld.so.cache1.1"
#define BETTER "glibc-hwcaps/x86-64-v2"
#define LIB "lib/x86_64-linux-gnu" /* what $LIB stands for */

static const char *const usual_places[] = {
    "/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64", "/lib", "/usr/lib",
};

static bool is_library(const char *path) {
    Elf64_Ehdr h;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    bool read_it = read(fd, &h, sizeof(h)) == sizeof(h);
    close(fd);
    return read_it && !memcmp(h.e_ident, ELFMAG, SELFMAG) && h.e_ident[EI_CLASS] == ELFCLASS64 &&
           h.e_machine == EM_X86_64;
}

static bool is_in(const char *dir, size_t dir_len, const char *name, char path[LIBRARY_PATH_MAX]) {
    static const char *const kinds[] = {"/" BETTER, ""};
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (snprintf(path, LIBRARY_PATH_MAX, "%.*s%s/%s", (int)dir_len, dir, kinds[i], name) < LIBRARY_PATH_MAX &&
            is_library(path))
            return true;
    return false;
}

/* --------------------------------------------------------------------------------------------- lists of directories */

static size_t token(const char *at, const char *name) {
    size_t len = strlen(name);
    if (!strncmp(at, name, len))
        return len;
    return at[0] == '{' && !strncmp(at + 1, name, len) && at[len + 1] == '}' ? len + 2 : 0;
}

/* A directory with $ORIGIN, $LIB and $PLATFORM replaced; false: too long. */
static bool expand(const char *dir, size_t len, const char *origin, char out[PATH_MAX]) {
    const struct { const char *name, *value; } tokens[] = {{"ORIGIN", origin}, {"LIB", LIB}, {"PLATFORM", "x86_64"}};
    size_t n = 0;
    for (size_t i = 0; i < len;) {
        const char *value = NULL;
        size_t used = 0;
        for (size_t k = 0; dir[i] == '$' && !used && k < ARRAY_LEN(tokens); k++) {
            used = token(dir + i + 1, tokens[k].name);
            value = tokens[k].value;
        }
        int wrote = used ? snprintf(out + n, PATH_MAX - n, "%s", value) : snprintf(out + n, PATH_MAX - n, "%c", dir[i]);
        n += (size_t)wrote;
        i += used + 1;
        if (n >= PATH_MAX)
            return false;
    }
    out[n] = 0;
    return true;
}

static void origin_of(const char *file, char origin[PATH_MAX]) {
    if (!realpath(file, origin))
        snprintf(origin, PATH_MAX, "%s", file);
    char *slash = strrchr(origin, '/');
    if (slash)
        slash[slash == origin] = 0;
}

/* In a list with colons, of the file `whose`; an empty directory is the current one. */
static bool is_in_list(const char *list, const char *separators, const char *whose, const char *name,
                       char path[LIBRARY_PATH_MAX]) {
    char origin[PATH_MAX], dir[PATH_MAX];
    if (!list || !*list)
        return false;
    origin_of(whose, origin);
    for (;;) {
        size_t len = strcspn(list, separators);
        if (len ? expand(list, len, origin, dir) && is_in(dir, strlen(dir), name, path) : is_in(".", 1, name, path))
            return true;
        if (!list[len])
            return false;
        list += len + 1;
    }
}

/* DT_RPATH of the file and of those that needed it; it does not count where there is a DT_RUNPATH. */
static bool is_in_rpath(const AheadFile *f, const char *name, char path[LIBRARY_PATH_MAX]) {
    if (elf_dynamic_text(f->elf, DT_RUNPATH, 0))
        return false;
    for (const AheadFile *n = f; n; n = n->by)
        if (!elf_dynamic_text(n->elf, DT_RUNPATH, 0) &&
            is_in_list(elf_dynamic_text(n->elf, DT_RPATH, 0), ":", n->path, name, path))
            return true;
    return false;
}

/* ------------------------------------------------------------------------------------------------------ ld.so.cache */

typedef struct CacheHead {
    char magic[20];
    u32 count, texts_size, rest[5];
} CacheHead;

typedef struct CacheEntry {
    u32 flags, name, path, version; /* the texts' offsets in the file */
    u64 hwcap;
} CacheEntry;

enum { FLAGS_X86_64 = 0x0303 }; /* a library for libc6, x86-64 */

static const char *text_at(const u8 *file, size_t size, u32 off) {
    return off < size && memchr(file + off, 0, size - off) ? (const char *)file + off : NULL;
}

/* Entries with a hwcap are for better CPUs; is_in finds those that matter beside the plain one. */
static const char *search_cache(const u8 *file, size_t size, const char *name) {
    CacheHead head;
    if (size < sizeof(head))
        return NULL;
    memcpy(&head, file, sizeof(head));
    if (memcmp(head.magic, CACHE_MAGIC, sizeof(head.magic)) || head.count > (size - sizeof(head)) / sizeof(CacheEntry))
        return NULL;
    for (u32 i = 0; i < head.count; i++) {
        CacheEntry e;
        memcpy(&e, file + sizeof(head) + i * sizeof(e), sizeof(e));
        const char *key = e.flags == FLAGS_X86_64 && !e.hwcap ? text_at(file, size, e.name) : NULL;
        if (key && !strcmp(key, name))
            return text_at(file, size, e.path);
    }
    return NULL;
}

static bool is_in_cache(const char *name, char path[LIBRARY_PATH_MAX]) {
    struct stat st;
    int fd = open(CACHE_FILE, O_RDONLY | O_CLOEXEC);
    bool sized = fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0;
    void *file = sized ? mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    if (fd >= 0)
        close(fd);
    if (file == MAP_FAILED)
        return false;
    const char *found = search_cache(file, (size_t)st.st_size, name), *slash = found ? strrchr(found, '/') : NULL;
    bool ok = slash && is_in(found, (size_t)(slash - found), slash + 1, path);
    munmap(file, (size_t)st.st_size);
    return ok;
}

bool library_find(const AheadFile *f, const char *name, char path[LIBRARY_PATH_MAX]) {
    if (strchr(name, '/'))
        return snprintf(path, LIBRARY_PATH_MAX, "%s", name) < LIBRARY_PATH_MAX && is_library(path);
    if (is_in_rpath(f, name, path) || is_in_list(getenv("LD_LIBRARY_PATH"), ":;", f->path, name, path) ||
        is_in_list(elf_dynamic_text(f->elf, DT_RUNPATH, 0), ":", f->path, name, path) || is_in_cache(name, path))
        return true;
    for (size_t i = 0; i < ARRAY_LEN(usual_places); i++)
        if (is_in(usual_places[i], strlen(usual_places[i]), name, path))
            return true;
    return false;
}
