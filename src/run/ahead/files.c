/* files.c: the guest files to translate: programs and libraries with all that they need, and the kernel's vdso. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/host.h"
#include "isa/kinds.h"
#include "run/ahead/ahead.h"

enum { PAGE = ELF_PAGE, SCRIPT_LINE = 256 };

/* An image so large is damaged, or a bitmap of it would be of no use. */
#define IMAGE_MAX ((u64)1 << 32)

/* Where a position-independent image is supposed to lie: objects do not depend on it. */
#define ANY_BASE ((u64)1 << 32)

/* ----------------------------------------------------------------------------------------------------- adding files */

static bool complain(const char *path, const char *what, const char *more) {
    fprintf(stderr, "lathe: %s: %s%s\n", path, what, more);
    return false;
}

PackIdentity files_identity(const struct stat *st) {
    return (PackIdentity){
        .device = st->st_dev,
        .inode = st->st_ino,
        .size = (u64)st->st_size,
        .mtime_s = st->st_mtim.tv_sec,
        .mtime_ns = st->st_mtim.tv_nsec,
        .ctime_s = st->st_ctim.tv_sec,
        .ctime_ns = st->st_ctim.tv_nsec,
    };
}

/* The base of an image is where its first page is; programs and interpreters, which the client places, are aligned as
 * they ask. */
static AheadFile *new_file(const char *path, ElfFile *elf, const PackIdentity *identity, bool aligned) {
    AheadFile *f = mem_new(sizeof(*f));
    ElfExtent extent = elf_extent(elf);
    u64 align = aligned && extent.position_independent && extent.align > PAGE ? extent.align : PAGE;
    f->path = strdup(path);
    CHECK(f->path, "out of memory");
    const char *slash = strrchr(f->path, '/');
    f->name = slash ? slash + 1 : f->path;
    f->elf = elf;
    f->identity = *identity;
    f->position_independent = extent.position_independent;
    f->low = extent.start & -align;
    f->base = extent.position_independent ? ANY_BASE : f->low;
    f->end = f->base + ((extent.end - f->low + PAGE - 1) & -(u64)PAGE);
    for (u64 off = 0; off < f->end - f->base; off += (u64)1 << REGION_BITS)
        VEC_PUSH(&f->regions, ((Region){0}));
    return f;
}

/* A program or library with what it needs, as the dynamic linker would load it. */
typedef struct Closure {
    AheadFiles *files; /* of all closures */
    const AheadPlan *plan;
    AheadFiles loaded; /* of this one */
} Closure;

static AheadFile *find_file(const AheadFiles *files, const PackIdentity *identity) {
    for (size_t i = 0; i < files->len; i++)
        if (!memcmp(&files->at[i]->identity, identity, sizeof(*identity)))
            return files->at[i];
    return NULL;
}

/* A script's interpreter would have to be guessed, where it is /usr/bin/env. */
static bool complain_of_script(const char *path) {
    char line[SCRIPT_LINE] = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, line, sizeof(line) - 1);
    if (fd >= 0)
        close(fd);
    if (n < 3 || line[0] != '#' || line[1] != '!')
        return false;
    line[strcspn(line, "\n")] = 0;
    complain(path, "a script; compile what runs it: ", line + 2 + strspn(line + 2, " "));
    return true;
}

static AheadFile *open_file(const AheadPlan *plan, const char *path, const PackIdentity *identity, bool aligned) {
    ElfError error;
    ElfFile *elf = elf_open(path, &error);
    if (elf && elf_extent(elf).end - elf_extent(elf).start > IMAGE_MAX) {
        complain(path, "too large", "");
        elf_close(elf);
        return NULL;
    }
    if (elf && kind_of_arch(elf_arch(elf)) != plan->kind) {
        complain(path, "of another architecture than ", plan->kind->name);
        elf_close(elf);
        return NULL;
    }
    if (elf)
        return new_file(path, elf, identity, aligned || elf_interpreter(elf));
    if (!complain_of_script(path))
        complain(path, error.text, "");
    return NULL;
}

static bool load(Closure *c, const char *path, const AheadFile *by, bool aligned) {
    struct stat st;
    if (stat(path, &st))
        return complain(path, strerror(errno), "");
    PackIdentity identity = files_identity(&st);
    if (find_file(&c->loaded, &identity))
        return true;
    AheadFile *f = find_file(c->files, &identity);
    if (!f) {
        f = open_file(c->plan, path, &identity, aligned);
        if (!f)
            return false;
        f->by = by;
        VEC_PUSH(c->files, f);
    }
    VEC_PUSH(&c->loaded, f);
    return true;
}

/* A library that is loaded already serves whoever needs one of its name, wherever that one would be. */
static bool is_loaded(const Closure *c, const char *name) {
    for (size_t i = 0; i < c->loaded.len; i++) {
        const char *own = elf_dynamic_text(c->loaded.at[i]->elf, DT_SONAME, 0);
        if (!strcmp(own ? own : c->loaded.at[i]->name, name))
            return true;
    }
    return false;
}

static bool load_library(Closure *c, const AheadFile *f, const char *name) {
    char path[LIBRARY_PATH_MAX];
    if (is_loaded(c, name))
        return true;
    if (library_find(f, c->plan->sysroot, name, path))
        return load(c, path, f, false);
    return complain(f->path, "needs a library that is not found: ", name);
}

static bool load_interpreter(Closure *c, const AheadFile *f, const char *path) {
    char inside[LIBRARY_PATH_MAX];
    const char *root = c->plan->sysroot;
    if (root && snprintf(inside, sizeof(inside), "%s/%s", root, path) < (int)sizeof(inside) &&
        access(inside, F_OK) == 0)
        path = inside;
    if (access(path, F_OK))
        return complain(f->path, "needs an interpreter that is not found: ", path);
    return load(c, path, NULL, true);
}

static bool load_needs(Closure *c, const AheadFile *f) {
    const char *interpreter = elf_interpreter(f->elf), *name;
    bool ok = !interpreter || load_interpreter(c, f, interpreter);
    for (size_t i = 0; (name = elf_dynamic_text(f->elf, DT_NEEDED, i)); i++)
        ok &= load_library(c, f, name);
    return ok;
}

bool files_add(AheadFiles *files, const AheadPlan *plan, const char *path) {
    Closure c = {.files = files, .plan = plan};
    bool ok = load(&c, path, NULL, false);
    for (size_t i = 0; i < c.loaded.len; i++)
        ok &= load_needs(&c, c.loaded.at[i]);
    VEC_FREE(&c.loaded);
    return ok;
}

/* ------------------------------------------------------------------------------------------------------------- vdso */

/* As the client has it: vdso.c there. The code is the host's. */
static bool guests_have_vdso(const Kind *kind) {
    return kind == kind_of_host() && host_has_plain_vdso();
}

static size_t mapping_size(u64 start) {
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[512];
    unsigned long long from = 0, to = 0;
    bool found = false;
    while (maps && !found && fgets(line, sizeof(line), maps))
        found = sscanf(line, "%llx-%llx", &from, &to) == 2 && from == start;
    if (maps)
        fclose(maps);
    return found ? to - from : 0;
}

/* The reader of ELF files gets it as a file in memory. */
void files_add_vdso(AheadFiles *files, const AheadPlan *plan) {
    u64 vdso = getauxval(AT_SYSINFO_EHDR);
    size_t size = vdso && guests_have_vdso(plan->kind) ? mapping_size(vdso) : 0;
    int fd = size ? memfd_create("vdso", MFD_CLOEXEC) : -1;
    char path[32];
    ElfError error;
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    bool copied = fd >= 0 && write(fd, (const void *)(uintptr_t)vdso, size) == (ssize_t)size;
    ElfFile *elf = copied ? elf_open(path, &error) : NULL;
    if (elf) {
        PackIdentity content = {
            .device = ~(u64)0, .inode = pack_hash(PACK_HASH_START, (const void *)(uintptr_t)vdso, size), .size = size};
        AheadFile *f = new_file("[vdso]", elf, &content, false);
        f->changing_data = true;
        VEC_PUSH(files, f);
    }
    if (fd >= 0)
        close(fd);
}

bool files_handle_signals(const AheadFiles *files) {
    static const char *const names[] = {"sigaction", "signal", "__sysv_signal", "bsd_signal", "sigset"};
    for (size_t i = 0; i < files->len; i++)
        for (size_t k = 0; k < ARRAY_LEN(names); k++)
            if (elf_imports(files->at[i]->elf, names[k]))
                return true;
    return false;
}

static void free_file(AheadFile *f) {
    for (size_t i = 0; i < f->regions.len; i++)
        VEC_FREE(&f->regions.at[i].waiting);
    VEC_FREE(&f->regions);
    map64_free(&f->known);
    map64_free(&f->heat);
    elf_close(f->elf);
    free(f->path);
    mem_free(f);
}

void files_free(AheadFiles *files) {
    for (size_t i = 0; i < files->len; i++)
        free_file(files->at[i]);
    VEC_FREE(files);
}
