/* raise_libraries.c: see raise_libraries.h. Libraries are found as the dynamic linker does it. */
#include "cli/raise_libraries.h"

#include <elf.h>
#include <stdio.h>

#include "isa/kinds.h"
#include "raise/raise.h"
#include "run/ahead/ahead.h"

typedef struct Search {
    ElfParts *parts;
    VEC(AheadFile *) files; /* of each part: where it is, and what needed it */
    const char *sysroot;
    ElfError *error;
} Search;

static bool fail(Search *s, const char *text, const char *name) {
    s->error->status = LATHE_ERR_ARGUMENT;
    snprintf(s->error->text, sizeof(s->error->text), "%s%.200s", text, name);
    return false;
}

static bool is_known(const Search *s, const char *name) {
    for (size_t i = 0; i < s->parts->len; i++)
        if (!strcmp(s->parts->at[i].name, name))
            return true;
    return false;
}

static char *copy_text(const char *text) {
    return strcpy(mem_new(strlen(text) + 1), text);
}

static void add(Search *s, ElfFile *elf, const char *name, const char *path, const AheadFile *by) {
    AheadFile *file = mem_new(sizeof(*file));
    *file = (AheadFile){.path = copy_text(path), .elf = elf, .by = by};
    VEC_PUSH(&s->files, file);
    VEC_PUSH(s->parts, ((ElfPart){.elf = elf, .name = copy_text(name), .outside = by && raise_is_known_library(name)}));
}

static bool add_library(Search *s, const AheadFile *by, const char *name) {
    char path[LIBRARY_PATH_MAX];
    if (is_known(s, name))
        return true;
    if (!library_find(by, s->sysroot, name, path))
        return fail(s, "it needs a library that is not found (-L DIR looks for it below DIR): ", name);
    ElfFile *elf = elf_open(path, s->error);
    if (!elf)
        return fail(s, "it needs a library that cannot be read: ", path);
    add(s, elf, name, path, by);
    return true;
}

/* Those that are needed directly come first, then those that they need, as the dynamic linker has them. */
static bool add_all(Search *s) {
    const char *name;
    for (size_t i = 0; i < s->parts->len; i++)
        for (size_t k = 0; (name = elf_dynamic_text(s->parts->at[i].elf, DT_NEEDED, k)); k++)
            if (!add_library(s, s->files.at[i], name))
                return false;
    return true;
}

/* Does the program need a library that the other machine does not have for it? */
static bool needs_others(const ElfFile *elf) {
    const char *name;
    for (size_t i = 0; (name = elf_dynamic_text(elf, DT_NEEDED, i)); i++)
        if (!raise_is_known_library(name))
            return true;
    return false;
}

void raise_free_parts(ElfParts *parts) {
    for (size_t i = 0; i < parts->len; i++) {
        elf_close(parts->at[i].elf);
        mem_free((void *)parts->at[i].name);
    }
    VEC_FREE(parts);
}

ElfFile *raise_join_libraries(ElfFile *elf, const char *path, const char *sysroot, ElfParts *parts, ElfError *error) {
    char usual[LIBRARY_PATH_MAX];
    Search s = {.parts = parts, .sysroot = sysroot ? sysroot : usual, .error = error};
    if (!elf_interpreter(elf) || !needs_others(elf))
        return elf;
    kind_sysroot(kind_of_arch(elf_arch(elf)), usual, sizeof(usual));
    add(&s, elf, "the program", path, NULL);
    ElfFile *joined = add_all(&s) ? elf_join(parts, error) : NULL;
    for (size_t i = 0; i < s.files.len; i++) {
        mem_free(s.files.at[i]->path);
        mem_free(s.files.at[i]);
    }
    VEC_FREE(&s.files);
    return joined;
}
