/* load.h: loads a program file into memory (load.c), and builds its first stack (stack.c). */
#ifndef RUN_CLIENT_LOAD_H
#define RUN_CLIENT_LOAD_H

#include "run/client/core/client.h"

typedef struct LoadedImage {
    u64 base, end, entry, phdr;
    u32 phnum;
    u64 interp_base; /* 0: no interpreter */
    u64 start;       /* the first address that runs: the interpreter's entry, or else the program's */
    bool executable_stack;
} LoadedImage;

enum { LOAD_ARGV_ROOM = 10, LOAD_REASON_BYTES = 512 };
/* Loads a program and its interpreter. Returns 0; or a negative errno; or the signal by which the kernel would kill the
 * process, if the file turns out bad when exec can no longer return. In the latter two cases `message` has a sentence.
 * Follows #! lines and changes argv accordingly, which has room for LOAD_ARGV_ROOM more. */
int load_program(const char *path, char **argv, LoadedImage *image, char *message, size_t message_size);
/* Builds the stack that a program begins with and returns the stack pointer. */
u64 stack_build(const LoadedImage *image, char **argv, char **envp, const char *path);
void stack_grow(u64 limit); /* the guest has a new limit for its stack */

#endif
