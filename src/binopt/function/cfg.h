/* cfg.h: the blocks of a function as it is, and its loops. */
#ifndef BINOPT_FUNCTION_CFG_H
#define BINOPT_FUNCTION_CFG_H

#include "binopt/x86_64/machine/memory.h"

typedef struct Node {
    u64 pc;
    u32 next[2], next_count;
    bool done, open; /* in the search for loops */
} Node;

typedef struct Loop {
    u64 first;  /* where it begins */
    u8 *member; /* by node */
} Loop;

typedef struct Cfg {
    u64 function;
    VEC(Node) nodes;
    Map64 at; /* pc -> node */
    VEC(Loop) loops;
} Cfg;

/* Of what direct jumps lead to. */
void cfg_init(Cfg *c, Memory *m, Arena *a, u64 function);
void cfg_free(Cfg *c);

/* Does a block begin there? */
bool cfg_begins(const Cfg *c, u64 pc);
/* The loop that begins there; NULL: none. */
const Loop *cfg_loop(const Cfg *c, u64 pc);
/* Addresses that are not known to be in a function are taken to be in all its loops. */
bool cfg_is_in(const Cfg *c, const Loop *l, u64 pc);

#endif
