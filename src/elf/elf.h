/* elf.h: an ELF file as guest memory and as a list of functions.
 *
 * The file is seen as the loader would map it at load bias 0: addresses are those of the file's own headers.
 * Executables (static, position-independent) and shared libraries for x86-64 are read; their segments and functions are
 * known after elf_open, which refuses files that are broken. An ElfFile does not change after that, so threads may
 * share it.
 */
#ifndef ELF_ELF_H
#define ELF_ELF_H

#include "base/base.h"
#include "lathe/lift.h"

typedef struct ElfFile ElfFile;

typedef struct ElfError {
    LatheStatus status; /* LATHE_ERR_ARCH for another machine, LATHE_ERR_ARGUMENT for everything else */
    char text[160];     /* what is wrong, without the name of the file */
} ElfError;

/* NULL on failure, with *error filled. elf_close(NULL) is allowed. */
ElfFile *elf_open(const char *path, ElfError *error);
void elf_close(ElfFile *elf);

u64 elf_entry(const ElfFile *elf); /* 0: none, as in most libraries */

/* Reads up to `size` bytes of the image as it is after relocation, zeros where memory has no file contents; returns how
 * many (0: unmapped). `elf` is an ElfFile: both functions are a LatheReadMemory. */
size_t elf_read(void *elf, u64 addr, void *buf, size_t size);

/* The same for what cannot change while the guest runs: memory that is read-only, read-only after relocation, or
 * executable. Stops before a word that only the dynamic linker knows, such as the address of another library's
 * function. */
size_t elf_read_const(void *elf, u64 addr, void *buf, size_t size);

typedef struct ElfFunction {
    u64 addr, size;   /* size 0: unknown */
    const char *name; /* NULL: none; lives as long as the ElfFile */
} ElfFunction;

/* The functions that symbols and unwind tables tell of, one per address, by rising address; owned by elf. Where several
 * symbols name one address, a global one is preferred. */
size_t elf_functions(const ElfFile *elf, const ElfFunction **functions);

/* The function that begins at addr; one without name and size if none is known. */
ElfFunction elf_function_at(const ElfFile *elf, u64 addr);

/* The function called `text` (any of its names, with or without symbol version), or the code at `text` if that is an
 * address in the form 0x1f00. False: there is none, or no executable code is there. */
bool elf_lookup(const ElfFile *elf, const char *text, ElfFunction *function);

#endif
