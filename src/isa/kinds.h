/* kinds.h: the kinds of guests there are, as the table of architectures lists them (isas.def), for those who need nothing else of an
 * ISA. */
#ifndef ISA_KINDS_H
#define ISA_KINDS_H

#include "base/base.h"
#include "lathe/types.h"

typedef struct Kind {
    const char *name;   /* for people */
    const char *folder; /* in names of files, and of directories of libraries */
    u32 machine;        /* of ELF files */
    bool weak_memory;   /* do threads see each other's accesses in a weak order? */
    const char *hwcaps; /* directory of libraries for better processors; empty: there is none */
    u32 cache_flags;    /* of its libraries in ld.so.cache */
    bool runs;          /* is there a client? */
} Kind;

/* Of kinds that `lathe run` runs. NULL: there is none. */
const Kind *kind_of_name(const char *name);
const Kind *kind_of_file(const char *path); /* which must be a 64-bit ELF file */
const Kind *kind_of_host(void);
const Kind *kind_of_arch(LatheArch arch); /* which must be one */

LatheArch kind_arch(const Kind *k);

/* Where Debian's cross packages put the libraries of another machine, if they are there; else empty. */
void kind_sysroot(const Kind *k, char *path, size_t size);

#endif
