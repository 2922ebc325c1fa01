/* join.h: what the files of elf_join() share. */
#ifndef ELF_JOIN_H
#define ELF_JOIN_H

#include "elf/parts.h"

/* A definition that a reference leads to. */
typedef struct JoinTarget {
    size_t part; /* its index */
    Elf64_Sym symbol;
} JoinTarget;

/* The symbols of one part that others see, and those that it needs: numbers by the hash of the name. */
typedef struct JoinNames {
    Map64 defined, needed;
} JoinNames;

/* join_names.c */
void join_names_load(JoinNames *n, const ElfFile *elf);
void join_names_free(JoinNames *n);
/* What the dynamic linker finds for a name that part `from` refers to; false: nobody has it. */
bool join_find(const ElfParts *parts, const JoinNames *names, size_t from, const char *name, JoinTarget *to);
/* The same for a variable that the program has a copy of: what that is copied from. */
bool join_find_library(const ElfParts *parts, const JoinNames *names, const char *name, JoinTarget *to);
/* The same for a relocation's symbol, which the part itself may have for itself alone. */
bool join_find_for(const ElfParts *parts, const JoinNames *names, size_t from, const ElfRelocation *row,
                   JoinTarget *to);
/* Would a library that stays outside find this symbol of a part that does not? */
bool join_is_seen_outside(const ElfParts *parts, const JoinNames *names, size_t part, const char *name);

#endif
