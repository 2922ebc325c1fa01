/* program.h: what exec has to know of a program file before the process becomes it: the #! line of a script, the headers of an ELF file, and those
 * of its interpreter.
 *
 * Everything is checked in the kernel's order, and refused with the kernel's errno. What the kernel notices only when the old program is gone is
 * not refused here: load.c meets it. Nothing in a file is trusted. */
#ifndef RUN_CLIENT_PROGRAM_H
#define RUN_CLIENT_PROGRAM_H

#include <elf.h>

#include "run/client/core/client.h"

enum {
    PHDRS_MAX = 65536 / sizeof(Elf64_Phdr), /* the kernel's limit */
    INTERP_MAX = 4096,
    SCRIPT_LINE = 256, /* how much of a #! line the kernel looks at */
    SCRIPTS_MAX = 5,   /* interpreters that are scripts themselves, with the first */
};

/* Where a sentence goes that says why something was refused. */
typedef struct Failure {
    char *message;
    size_t size;
} Failure;

/* Returns -error. */
int refuse(const Failure *f, int error, const char *format, ...) __attribute__((format(printf, 3, 4)));

typedef struct Elf {
    int fd;
    Elf64_Ehdr head;
    Elf64_Phdr ph[PHDRS_MAX];
    u64 low, high, align; /* load.c: of all PT_LOAD, the pages that hold them, and the largest alignment */
    u64 bias;             /* load.c: where it is minus where it wanted to be */
} Elf;

typedef struct Program {
    Elf main, interp; /* interp.fd is -1 if there is none */
    char interpreter[INTERP_MAX];
} Program;

/* The headers of `fd`, a program for this machine, and of the interpreter that it names, which is looked for in the sysroot first. 0 or a negative errno. */
int program_read(Program *p, int fd, u16 machine, const char *sysroot, const Failure *f);
void program_close(Program *p); /* the interpreter */

/* Are the fixed addresses of this program, if it has some, beside what the client has at low addresses (low.h)? */
bool program_fits_low(const char *path);

/* Splits the first bytes of a script, with zeros behind what the file has. false: the kernel would not take it for one. */
bool script_split(char line[SCRIPT_LINE], char **interpreter, char **arg);

/* `path` as it is, or where it is in the sysroot, in `inside`. */
const char *sysroot_find(const char *sysroot, const char *path, char inside[INTERP_MAX]);

#endif
