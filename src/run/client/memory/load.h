/* load.h: a program file into memory (load.c), and the first stack that it finds (stack.c). */
#ifndef RUN_CLIENT_LOAD_H
#define RUN_CLIENT_LOAD_H

#include "run/client/core/client.h"

typedef struct LoadedImage {
    u64 base, end, entry, phdr;
    u32 phnum;
    u64 interp_base; /* 0: no interpreter */
    u64 start;       /* where to begin: the interpreter's entry or the program's */
    bool executable_stack;
} LoadedImage;

enum { LOAD_ARGV_ROOM = 10 };
/* Load a program and its interpreter; 0, or with a sentence in `message` a negative errno, or the signal that the kernel kills a process with whose file
 * turns out bad when exec cannot return any more. Follows #! lines: then argv is what these make of it (it has room for LOAD_ARGV_ROOM more). */
int load_program(const char *path, char **argv, LoadedImage *image, char *message, size_t message_size);
/* The stack as a program finds it; returns rsp. */
u64 stack_build(const LoadedImage *image, char **argv, char **envp, const char *path);
void stack_grow(u64 limit); /* the guest has a new limit for its stack */

#endif
