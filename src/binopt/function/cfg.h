/* cfg.h: the control flow graph of the original function: its blocks and loops. */
#ifndef BINOPT_FUNCTION_CFG_H
#define BINOPT_FUNCTION_CFG_H

#include "binopt/x86_64/machine/memory.h"

typedef struct CfgNode {
    u64 pc;
    u32 next[2], next_count;
    bool done, open; /* state in the search for loops */
} CfgNode;

typedef struct CfgLoop {
    u64 first;  /* the address where it begins */
    u8 *member; /* by node: true if the node is in the loop */
} CfgLoop;

typedef struct Cfg {
    u64 function;
    VEC(CfgNode) nodes;
    Map64 at; /* pc -> node */
    VEC(CfgLoop) loops;
} Cfg;

/* Contains the code that direct jumps lead to. */
void cfg_init(Cfg *c, Memory *m, Arena *a, u64 function);
void cfg_free(Cfg *c);

/* True if a block begins at pc. */
bool cfg_begins(const Cfg *c, u64 pc);
/* The loop that begins at pc, or NULL. */
const CfgLoop *cfg_loop(const Cfg *c, u64 pc);
/* True if pc is in the loop. An address that is not in the graph is taken to be in all loops. */
bool cfg_is_in(const Cfg *c, const CfgLoop *l, u64 pc);

#endif
