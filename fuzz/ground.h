/* ground.h: what the fuzzers of the client's lower folders have in common: they are freestanding like the client, and made from its files
 * (ground.c has what the folders above would provide). */
#ifndef FUZZ_GROUND_H
#define FUZZ_GROUND_H

#include "run/client/core/client.h"

/* Called by the client's start in place of its main.c. */
int client_main(int argc, char **argv, char **envp, u64 *auxv);

extern u64 forgotten; /* the bytes that code_forget was called for */

u64 number(const char *text);
u64 next(u64 *state); /* the next random number */

#endif
