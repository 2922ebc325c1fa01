/* libraries.c: where the dynamic linker finds a library: ld.so(8), "the library is searched for in the following
 * order".
 *
 * A library built for what guests see of the CPU is preferred to the plain one beside it. Files for other machines than that of
 * the file that needs them are passed over. What is not in the sysroot, if there is one, may be outside. */
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "isa/kinds.h"
#include "run/ahead/ahead.h"

#define CACHE_FILE "/etc/ld.so.cache"
#define CACHE_MAGIC "glibc-ld.so.cache1.1"

/* $KIND is as libraries' directories call it. */
static const char *const usual_places[] = {
    "/lib/$KIND-linux-gnu", "/usr/lib/$KIND-linux-gnu", "/lib64", "/usr/lib64", "/lib", "/usr/lib",
};

/* What libraries are looked for. */
typedef struct Search {
    const Kind *kind;
    const char *sysroot; /* "": none */
    const char *name;
} Search;

static bool is_library(const Search *s, const char *path) {
    Elf64_Ehdr h;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    bool read_it = read(fd, &h, sizeof(h)) == sizeof(h);
    close(fd);
    return read_it && !memcmp(h.e_ident, ELFMAG, SELFMAG) && h.e_ident[EI_CLASS] == ELFCLASS64 &&
           h.e_machine == s->kind->machine;
}

static bool is_below(const Search *s, const char *root, const char *dir, size_t dir_len, char path[LIBRARY_PATH_MAX]) {
    const char *const better[] = {s->kind->hwcaps, ""};
    for (size_t i = *better[0] ? 0 : 1; i < ARRAY_LEN(better); i++)
        if (snprintf(path, LIBRARY_PATH_MAX, "%s%.*s%s%s/%s", root, (int)dir_len, dir, *better[i] ? "/" : "", better[i],
                     s->name) < LIBRARY_PATH_MAX &&
            is_library(s, path))
            return true;
    return false;
}

/* As the client opens files: absolute paths in the sysroot first. */
static bool is_in(const Search *s, const char *dir, size_t dir_len, char path[LIBRARY_PATH_MAX]) {
    return (*s->sysroot && dir_len && *dir == '/' && is_below(s, s->sysroot, dir, dir_len, path)) ||
           is_below(s, "", dir, dir_len, path);
}

/* --------------------------------------------------------------------------------------------- lists of directories */

static size_t token(const char *at, const char *name) {
    size_t len = strlen(name);
    if (!strncmp(at, name, len))
        return len;
    return at[0] == '{' && !strncmp(at + 1, name, len) && at[len + 1] == '}' ? len + 2 : 0;
}

/* A directory with $ORIGIN, $LIB and $PLATFORM replaced, and our own $KIND; false: too long. */
static bool expand(const Search *s, const char *dir, size_t len, const char *origin, char out[PATH_MAX]) {
    char lib[64];
    const struct {
        const char *name, *value;
    } tokens[] = {{"ORIGIN", origin}, {"LIB", lib}, {"PLATFORM", s->kind->folder}, {"KIND", s->kind->folder}};
    snprintf(lib, sizeof(lib), "lib/%s-linux-gnu", s->kind->folder);
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
static bool is_in_list(const Search *s, const char *list, const char *separators, const char *whose,
                       char path[LIBRARY_PATH_MAX]) {
    char origin[PATH_MAX], dir[PATH_MAX];
    if (!list || !*list)
        return false;
    origin_of(whose, origin);
    for (;;) {
        size_t len = strcspn(list, separators);
        if (len ? expand(s, list, len, origin, dir) && is_in(s, dir, strlen(dir), path) : is_in(s, ".", 1, path))
            return true;
        if (!list[len])
            return false;
        list += len + 1;
    }
}

/* DT_RPATH of the file and of those that needed it; it does not count where there is a DT_RUNPATH. */
static bool is_in_rpath(const Search *s, const AheadFile *f, char path[LIBRARY_PATH_MAX]) {
    if (elf_dynamic_text(f->elf, DT_RUNPATH, 0))
        return false;
    for (const AheadFile *n = f; n; n = n->by)
        if (!elf_dynamic_text(n->elf, DT_RUNPATH, 0) &&
            is_in_list(s, elf_dynamic_text(n->elf, DT_RPATH, 0), ":", n->path, path))
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

static const char *text_at(const u8 *file, size_t size, u32 off) {
    return off < size && memchr(file + off, 0, size - off) ? (const char *)file + off : NULL;
}

/* Entries with a hwcap are for better CPUs; is_in finds those that matter beside the plain one. */
static const char *search_cache(const Search *s, const u8 *file, size_t size) {
    CacheHead head;
    if (size < sizeof(head))
        return NULL;
    memcpy(&head, file, sizeof(head));
    if (memcmp(head.magic, CACHE_MAGIC, sizeof(head.magic)) || head.count > (size - sizeof(head)) / sizeof(CacheEntry))
        return NULL;
    for (u32 i = 0; i < head.count; i++) {
        CacheEntry e;
        memcpy(&e, file + sizeof(head) + i * sizeof(e), sizeof(e));
        const char *key = e.flags == s->kind->cache_flags && !e.hwcap ? text_at(file, size, e.name) : NULL;
        if (key && !strcmp(key, s->name))
            return text_at(file, size, e.path);
    }
    return NULL;
}

static bool is_in_cache(const Search *s, char path[LIBRARY_PATH_MAX]) {
    struct stat st;
    char inside[LIBRARY_PATH_MAX];
    bool rooted = snprintf(inside, sizeof(inside), "%s" CACHE_FILE, s->sysroot) < (int)sizeof(inside) &&
                  access(inside, F_OK) == 0;
    int fd = open(rooted ? inside : CACHE_FILE, O_RDONLY | O_CLOEXEC);
    bool sized = fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0;
    void *file = sized ? mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    if (fd >= 0)
        close(fd);
    if (file == MAP_FAILED)
        return false;
    const char *found = search_cache(s, file, (size_t)st.st_size), *slash = found ? strrchr(found, '/') : NULL;
    bool ok = slash && is_in(&(Search){s->kind, s->sysroot, slash + 1}, found, (size_t)(slash - found), path);
    munmap(file, (size_t)st.st_size);
    return ok;
}

bool library_find(const AheadFile *f, const char *sysroot, const char *name, char path[LIBRARY_PATH_MAX]) {
    const Search s = {kind_of_arch(elf_arch(f->elf)), sysroot ? sysroot : "", name};
    char place[PATH_MAX];
    if (strchr(name, '/'))
        return snprintf(path, LIBRARY_PATH_MAX, "%s", name) < LIBRARY_PATH_MAX && is_library(&s, path);
    if (is_in_rpath(&s, f, path) || is_in_list(&s, getenv("LD_LIBRARY_PATH"), ":;", f->path, path) ||
        is_in_list(&s, elf_dynamic_text(f->elf, DT_RUNPATH, 0), ":", f->path, path) || is_in_cache(&s, path))
        return true;
    for (size_t i = 0; i < ARRAY_LEN(usual_places); i++)
        if (expand(&s, usual_places[i], strlen(usual_places[i]), "", place) && is_in(&s, place, strlen(place), path))
            return true;
    return false;
}
