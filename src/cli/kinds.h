/* kinds.h: the kinds of guests there are, as the table of architectures lists them (isa/isas.def). */
#ifndef CLI_KINDS_H
#define CLI_KINDS_H

#include "base/base.h"
#include "lathe/types.h"

typedef struct Kind {
    const char *name; /* for people, and in the names of files */
    u32 machine;      /* of ELF files */
} Kind;

/* NULL: there is none. */
const Kind *kind_of_name(const char *name);
const Kind *kind_of_file(const char *path); /* which must be a 64-bit ELF file */
const Kind *kind_of_host(void);

LatheArch kind_arch(const Kind *k);

/* Where Debian's cross packages put the libraries of another machine, if they are there; else empty. */
void kind_sysroot(const Kind *k, char *path, size_t size);

#endif
