/* symbols.c: dynamic symbols that the new code needs, of files that the old one is linked with.
 *
 * Most are in the old file's table already. What is not comes behind its end, in a copy of the table: the dynamic linker looks names up by a hash table that
 * only has the symbols that the file offers to others, and those keep their numbers. */
#include <elf.h>

#include "raise/file.h"

enum { IMPORT_STEP = 256 };

static u32 number_of(Imports *im, const char *name) {
    u32 number, count = elf_dynamic_symbols(im->elf);
    return elf_import_number(im->elf, name, &number) ? number : count + im->more++;
}

u64 imports_address(Imports *im, const char *name) {
    size_t i = 0;
    while (i < im->names.len && strcmp(im->names.at[i], name))
        i++;
    if (i == im->names.len) {
        VEC_PUSH(&im->names, name);
        VEC_PUSH(&im->numbers, number_of(im, name));
    }
    return IMPORT_BASE + i * IMPORT_STEP;
}

bool imports_number(const Imports *im, u64 word, u32 *number, i64 *addend) {
    u64 i = (word - IMPORT_BASE) / IMPORT_STEP;
    if (word < IMPORT_BASE || i >= im->names.len)
        return false;
    *number = im->numbers.at[i];
    *addend = (i64)(word % IMPORT_STEP);
    return true;
}

static bool is_more(const Imports *im, size_t i) {
    return im->numbers.at[i] >= elf_dynamic_symbols(im->elf);
}

ImportTables imports_tables(const Imports *im) {
    if (!im->more)
        return (ImportTables){0};
    u64 names = elf_dynamic_number(im->elf, DT_STRSZ), count = elf_dynamic_symbols(im->elf) + im->more;
    for (size_t i = 0; i < im->names.len; i++)
        names += is_more(im, i) ? strlen(im->names.at[i]) + 1 : 0;
    bool versions = elf_dynamic_number(im->elf, DT_VERSYM);
    return (ImportTables){count * sizeof(Elf64_Sym), names, versions ? count * sizeof(Elf64_Half) : 0};
}

/* The beginning of a table is the old one. */
static bool copy_old(const Imports *im, i64 tag, u8 *to, u64 size) {
    return elf_read((void *)im->elf, elf_dynamic_number(im->elf, tag), to, size) == size;
}

bool imports_write(const Imports *im, u8 *symbols, u8 *names, u8 *versions) {
    u64 old = elf_dynamic_symbols(im->elf), name = elf_dynamic_number(im->elf, DT_STRSZ);
    if (!copy_old(im, DT_SYMTAB, symbols, old * sizeof(Elf64_Sym)) || !copy_old(im, DT_STRTAB, names, name) ||
        (versions && !copy_old(im, DT_VERSYM, versions, old * sizeof(Elf64_Half))))
        return false;
    for (size_t i = 0; i < im->names.len; i++) {
        if (!is_more(im, i))
            continue;
        Elf64_Sym s = {.st_name = (u32)name, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE)};
        Elf64_Half any = VER_NDX_GLOBAL;
        memcpy(symbols + im->numbers.at[i] * sizeof(s), &s, sizeof(s));
        if (versions)
            memcpy(versions + im->numbers.at[i] * sizeof(any), &any, sizeof(any));
        strcpy((char *)names + name, im->names.at[i]);
        name += strlen(im->names.at[i]) + 1;
    }
    return true;
}

void imports_free(Imports *im) {
    VEC_FREE(&im->names);
    VEC_FREE(&im->numbers);
}
