/* cfg.h: the control flow graph of the original function: its blocks and loops. */
#ifndef BINOPT_FUNCTION_CFG_H
#define BINOPT_FUNCTION_CFG_H

#include "binopt/x86_64/machine/memory.h"

typedef struct Node {
    u64 pc;
    u32 next[2], next_count;
    bool done, open; /* state in the search for loops */
} Node;

typedef struct Loop {
    u64 first;  /* the address where it begins */
    u8 *member; /* by node: true if the node is in the loop */
} Loop;

typedef struct Cfg {
    u64 function;
    VEC(Node) nodes;
    Map64 at; /* pc -> node */
    VEC(Loop) loops;
} Cfg;

/* Contains the code that direct jumps lead to. */
void cfg_init(Cfg *c, Memory *m, Arena *a, u64 function);
void cfg_free(Cfg *c);

/* True if a block begins at pc. */
bool cfg_begins(const Cfg *c, u64 pc);
/* The loop that begins at pc, or NULL. */
const Loop *cfg_loop(const Cfg *c, u64 pc);
/* True if pc is in the loop. An address that is not in the graph is taken to be in all loops. */
bool cfg_is_in(const Cfg *c, const Loop *l, u64 pc);

#endif
