/* virtual.c: functions of the program that the C++ library calls as virtual ones, and that return a class in memory.
 *
 * Machines pass the address of such a result in different places, so their entries must know. A class that comes from one of the library's has a table of
 * virtual functions whose beginning is as that one's, and its type (Itanium C++ ABI, 2.9.5) leads to the library's type by name. Which of that one's functions return a
 * class in memory is a table that cxx.py makes. */
#include "raise/foreign/foreign.h"
#include "raise/runtime/slots.h"

enum { DEPTH_MAX = 16, TYPES_MAX = 256 };

typedef struct Search {
    Foreign *f;
    Map64 rows;      /* index of a relocation, by its place */
    VEC(u32) copies; /* variables of other files that the linker has copied */
    u32 types;       /* how many more are looked at for a table: damaged ones may lead to themselves */
} Search;

/* ---------------------------------------------------------------------------------------------------------------- words */

static u64 number_at(const Search *s, u64 at) {
    u64 v = 0;
    elf_read(s->f->r->elf, at, &v, sizeof(v));
    return v;
}

/* The other file's symbol that the word leads to; NULL: it has an address of the program's own, or no address. */
static const char *symbol_at(const Search *s, u64 at) {
    const ElfRelocations *all = &s->f->relocations;
    u32 index;
    if (map64_get(&s->rows, at, &index) && all->at[index].imported)
        return all->at[index].symbol;
    u64 address = number_at(s, at);
    for (size_t i = 0; i < s->copies.len; i++) {
        const ElfRelocation *copy = &all->at[s->copies.at[i]];
        if (address - copy->at < copy->size)
            return copy->symbol;
    }
    return NULL;
}

/* ---------------------------------------------------------------------------------------------------------------- types */

typedef enum Bases { BASES_NO_TYPE, BASES_ONE, BASES_SEVERAL } Bases;

static Bases bases_of(const Search *s, u64 type) {
    const char *kind = symbol_at(s, type);
    if (kind && !strcmp(kind, "_ZTVN10__cxxabiv120__si_class_type_infoE"))
        return BASES_ONE;
    return kind && !strcmp(kind, "_ZTVN10__cxxabiv121__vmi_class_type_infoE") ? BASES_SEVERAL : BASES_NO_TYPE;
}

/* The library's type, at `off` in objects of the type to which the word at `at` leads; NULL: there is none. */
static const char *library_type(Search *s, u64 at, i64 off, int depth) {
    const char *name = symbol_at(s, at), *found = NULL;
    u64 type = number_at(s, at);
    Bases bases = name || !depth || !s->types ? BASES_NO_TYPE : bases_of(s, type);
    s->types -= s->types > 0;
    if (bases == BASES_NO_TYPE)
        return off == 0 ? name : NULL;
    if (bases == BASES_ONE)
        return library_type(s, type + 16, off, depth - 1);
    u64 count = number_at(s, type + 16) >> 32;
    for (u64 i = 0; i < count && s->types && !found; i++) {
        u64 base = type + 24 + 16 * i, facts = number_at(s, base + 8);
        bool is_virtual = facts & 1;
        if (!is_virtual)
            found = library_type(s, base, off - ((i64)facts >> 8), depth - 1);
    }
    return found;
}

/* --------------------------------------------------------------------------------------------------------------- tables */

/* In a table of virtual functions, the word for the type is behind how far its objects are inside of larger ones, and before the functions. */
static void mark_table(Search *s, u64 at) {
    Raise *r = s->f->r;
    s->types = TYPES_MAX;
    if (bases_of(s, number_at(s, at)) == BASES_NO_TYPE)
        return;
    const char *type = library_type(s, at, -(i64)number_at(s, at - 8), DEPTH_MAX);
    for (u32 slot = 0; type && slot < CXX_SLOTS; slot++) {
        u64 word = at + 8 + 8 * (u64)slot;
        RaiseFunction *function =
            prototype_slot_in_memory(type, slot) ? raise_function_at(r, number_at(s, word)) : NULL;
        if (function && !symbol_at(s, word))
            function->gives_memory = true;
    }
}

static void mark_all(Search *s) {
    Foreign *f = s->f;
    ElfPointers words = {0};
    for (size_t i = 0; i < f->relocations.len; i++)
        if (!f->relocations.at[i].imported)
            mark_table(s, f->relocations.at[i].at);
    if (!f->r->extent.position_independent)
        elf_image_words(f->r->elf, &words);
    for (size_t i = 0; i < words.len; i++)
        mark_table(s, words.at[i].at);
    VEC_FREE(&words);
}

void foreign_mark_virtual(Foreign *f) {
    Search s = {.f = f};
    for (u32 i = 0; i < f->relocations.len; i++) {
        const ElfRelocation *row = &f->relocations.at[i];
        if (f->r->isa->relocation_kind(row->type) == RELOCATION_COPY)
            VEC_PUSH(&s.copies, i);
        else
            map64_set(&s.rows, row->at, i);
    }
    mark_all(&s);
    map64_free(&s.rows);
    VEC_FREE(&s.copies);
}
