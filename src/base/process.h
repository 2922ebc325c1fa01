/* process.h: the files that the dynamic linker has loaded into this process.
 *
 * A file may be unloaded by another thread at any time. It stays as long as it is looked at here, and this takes no lock that the
 * dynamic linker holds while it calls constructors and destructors: these may wait for the thread that looks. (dladdr takes it.) */
#ifndef BASE_PROCESS_H
#define BASE_PROCESS_H

#include <link.h>

#include "base/base.h"

typedef struct ProcessFile {
    const char *path; /* "" for the program itself */
    u64 base;         /* what is added to addresses in the file */
    u64 start, end;   /* of all its segments */
    const ElfW(Phdr) * segments;
    u32 segment_count;
    u64 unloads; /* how often the process has unloaded a file by now */
} ProcessFile;

/* Calls `look` with the file that has the address, which stays loaded meanwhile; false if there is none. */
bool process_look_at(u64 addr, void (*look)(const ProcessFile *file, void *user), void *user);

/* An entry of its dynamic section: a number, an address; 0 or NULL if it has none. */
u64 process_number(const ProcessFile *file, i64 tag);
const void *process_table(const ProcessFile *file, i64 tag);

/* The relocation in one of its tables for the place at `addr`, or if `name` is not NULL for a symbol of that name; NULL: none. */
const ElfW(Rela) * process_relocation(const ProcessFile *file, i64 table, i64 size, u64 addr, const char *name);
const char *process_name_of(const ProcessFile *file, const ElfW(Rela) * rela);

/* Asks about each name that its dynamic symbols have for exactly this address; the first answer that is not NULL, or NULL. */
const char *process_ask_names(const ProcessFile *file, u64 addr, const char *(*ask)(const char *name));

#endif
