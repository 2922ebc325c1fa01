/* program.h: what exec has to know of a program file before it replaces the old program: the #! line of a script, the headers of an ELF
 * file, and those of its interpreter.
 *
 * Everything is checked in the kernel's order and refused with the kernel's errno. Faults that the kernel notices only when the old
 * program is gone are not looked for here; load.c finds them. Nothing in a file is trusted. */
#ifndef RUN_CLIENT_PROGRAM_H
#define RUN_CLIENT_PROGRAM_H

#include <elf.h>

#include "run/client/core/client.h"

enum {
    PHDRS_MAX = 65536 / sizeof(Elf64_Phdr), /* the kernel's limit */
    INTERP_MAX = 4096,
    SCRIPT_LINE = 256, /* how much of a #! line the kernel looks at */
    SCRIPTS_MAX = 5,   /* how many scripts may be interpreters of one another, the first included */
};

/* Memory for a sentence that says why something was refused. */
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
    u64 low, high, align; /* set by load.c, for all PT_LOAD: the pages that hold them, and the largest alignment */
    u64 bias;             /* set by load.c: actual address minus the address in the file */
} Elf;

typedef struct Program {
    Elf main, interp; /* interp.fd is -1 if there is none */
    char interpreter[INTERP_MAX];
} Program;

/* Reads the headers of `fd`, which must be a program for this machine, and of the interpreter that it names; the
 * interpreter is looked for in the sysroot first. Returns 0 or a negative errno. */
int program_read(Program *p, int fd, u16 machine, const char *sysroot, const Failure *f);
void program_close(Program *p); /* closes the interpreter */

/* True if this program has no fixed addresses, or none where the client wants to have its block (low.h). */
bool program_fits_low(const char *path);

/* Splits the first bytes of a script; behind the end of a shorter file they are zeros. Returns false if the kernel
 * would not take the file for a script. */
bool script_split(char line[SCRIPT_LINE], char **interpreter, char **arg);

/* Returns the path of the file in the sysroot, which is written to `inside`, or `path` itself if the sysroot has no
 * such file. */
const char *sysroot_find(const char *sysroot, const char *path, char inside[INTERP_MAX]);

#endif
