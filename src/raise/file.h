/* file.h: the new file while program.c writes it: what symbols.c and unwind.c add to it. */
#ifndef RAISE_FILE_H
#define RAISE_FILE_H

#include "raise/raise.h"

/* Symbols of other files that the new code has addresses of. While it is linked, they have addresses of their own, from IMPORT_BASE on, which stand
 * for dynamic relocations. */
#define IMPORT_BASE ((u64)0x7f << 56)
#define IMPORT_BYTES ((u64)1 << 32)

typedef struct Imports {
    const ElfFile *elf;
    VEC(const char *) names;
    VEC(u32) numbers; /* in the table of dynamic symbols */
    u32 more;         /* how many of them the old file does not have */
} Imports;

/* The address of a symbol while the code is linked. */
u64 imports_address(Imports *im, const char *name);
/* The number of the symbol that a word is the address of, and the rest; false: it is no such address. */
bool imports_number(const Imports *im, u64 word, u32 *number, i64 *addend);

/* The tables of dynamic symbols of the new file, where it has more of them than the old one. */
typedef struct ImportTables {
    u64 symbols_size, names_size, versions_size; /* 0: the old table stays */
} ImportTables;
ImportTables imports_tables(const Imports *im);
bool imports_write(const Imports *im, u8 *symbols, u8 *names, u8 *versions);
void imports_free(Imports *im);

/* unwind.c: the index of unwind tables (.eh_frame), by which the system finds the entry of a place. Each object that was linked has a table. */
typedef struct UnwindTable {
    const u8 *bytes;
    u64 size;
    u64 addr; /* where it will be */
} UnwindTable;
typedef VEC(UnwindTable) UnwindTables;
/* A function of the old file, and its entry in the old table, by their addresses. */
typedef struct UnwindRow {
    u64 function, entry;
} UnwindRow;
typedef VEC(UnwindRow) UnwindRows;
/* Adds the rows of the old file's index, which is `size` bytes at `addr`, for functions in the range. An index of another form has none. */
void unwind_old_rows(const u8 *index, u64 size, u64 addr, LatheRange range, UnwindRows *rows);
/* How many bytes the index has; 0: the tables have no entries. */
u64 unwind_index_bytes(const UnwindTables *tables, const UnwindRows *old);
void unwind_index_write(const UnwindTables *tables, const UnwindRows *old, u8 *index, u64 index_addr);

#endif
