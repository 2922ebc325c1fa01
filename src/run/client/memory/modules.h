/* modules.h: which mapped files are modules (struct Module), as the guest's mappings come and go. For the files that change the table of the guest's memory;
 * but for module_find_key, their functions are called with its lock held. */
#ifndef RUN_CLIENT_MODULES_H
#define RUN_CLIENT_MODULES_H

#include "run/client/core/client.h"

/* What has to be known of a mapped file to tell modules apart. */
typedef struct MappedFile {
    u64 dev, ino;
    bool regular, elf, position_independent; /* elf: a program or library, mapped from its start */
} MappedFile;

/* Looks at a file that is to be mapped from offset `off` on. */
MappedFile file_look_at(int fd, u64 off);
/* The module that holds an address, or NULL. If there are several, because a file was mapped into a hole of another file's image, the innermost. */
Module *module_at(u64 addr);
/* [start, end) is unmapped now (f is NULL), or holds the file f or anonymous memory. Forgets the modules in it.
 * Anonymous pages and other parts of the same file inside an image belong to the image. A module that loses its first
 * pages keeps its base, because addresses in the rest of it are relative to the base. */
void modules_forget(u64 start, u64 end, const MappedFile *f);
/* A file was mapped at [start, end): it belongs to a module, or is a new one. Returns true if this is the module's
 * first code. */
bool module_note_file(u64 start, u64 end, u32 prot, int fd, const MappedFile *f);
/* Finds the name of the module's cache file. That means reading the file, so it is only done for files with code. */
void module_find_key(u64 addr, int fd);

#endif
