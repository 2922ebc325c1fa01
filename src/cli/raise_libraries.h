/* raise_libraries.h: the libraries that are raised along with a program for another machine. */
#ifndef CLI_RAISE_LIBRARIES_H
#define CLI_RAISE_LIBRARIES_H

#include "elf/elf.h"

/* The program with all of its libraries but those of C and C++, which the other machine has, as one file. `elf` itself if it has no others. Takes `elf`, which was opened from `path`.
 * NULL with *error filled. `sysroot`: where libraries are looked for first; NULL: where `lathe run` does. `parts`: what the file was made of, program first, in the order of addresses. */
ElfFile *raise_join_libraries(ElfFile *elf, const char *path, const char *sysroot, ElfParts *parts, ElfError *error);
void raise_free_parts(ElfParts *parts);

#endif
