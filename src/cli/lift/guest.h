/* guest.h: where the guest code of a command comes from: an ELF file, or bytes typed on the command line. */
#ifndef CLI_GUEST_H
#define CLI_GUEST_H

#include <stdio.h>

#include "elf/elf.h"

typedef struct Guest {
    const char *source; /* for messages: the file's name, or "--hex" */
    LatheArch arch;
    ElfFile *elf; /* NULL: the guest is `bytes` */
    u8 *bytes;
    size_t size;
    u64 at; /* address of bytes[0] */
} Guest;

/* On failure these print a message and return false. guest_close may be called in any case on a zeroed Guest. */
bool guest_open_file(Guest *guest, const char *path);
bool guest_open_hex(Guest *guest, const char *hex, u64 at, LatheArch arch);
bool guest_find(const Guest *guest, const char *function, ElfFunction *found);
void guest_close(Guest *guest);

/* Reads code and constant data; a LatheReadMemory. */
size_t guest_read(const Guest *guest, u64 addr, void *buf, size_t size);

/* The name of the function at addr without the symbol's version, or its address in hexadecimal; written to buf. */
const char *guest_name(const Guest *guest, u64 addr, char *buf, size_t size);

/* Prints "lathe: SOURCE: <message>" on stderr and returns false. */
bool guest_fail(const Guest *guest, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
