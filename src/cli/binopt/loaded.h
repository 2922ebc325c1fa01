/* loaded.h: a file of machine code that becomes part of this process, so that its functions can be called and rewritten.
 *
 * Shared libraries are loaded by the dynamic linker together with the libraries they need, and their constructors run. So are
 * position-independent executables, from a copy that does not say that it is one. Executables with fixed addresses are mapped at these
 * addresses, without their libraries. Relocatable objects are linked. */
#ifndef CLI_LOADED_H
#define CLI_LOADED_H

#include "cli/lift/guest.h"

typedef struct Loaded {
    const char *path;
    Guest guest;   /* the file; for a relocatable object, the function that was found last */
    bool has_file; /* guest.elf is valid, and an address of the file is that of the process minus `bias` */
    u64 bias;
    void *library; /* the result of dlopen, or NULL */
    LatheJit *jit; /* holds a relocatable object, or NULL */
    int copy_fd;   /* the copy of an executable, or -1 */
} Loaded;

/* On failure these print a message and return false. */
bool loaded_open(Loaded *l, const char *path);

/* Finds a function by its name, or by its address in the file. *addr is its address in this process, *file_addr in the
 * file. */
bool loaded_function(Loaded *l, const char *name, u64 *addr, u64 *file_addr);

/* Finds an exported name, a function, or an address of the file. */
bool loaded_address(Loaded *l, const char *where, u64 *addr);

void loaded_close(Loaded *l);

#endif
