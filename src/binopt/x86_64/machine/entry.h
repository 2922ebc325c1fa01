/* entry.h: where parameters are, and what is known of them when a function is entered. */
#ifndef BINOPT_MACHINE_ENTRY_H
#define BINOPT_MACHINE_ENTRY_H

#include "binopt/x86_64/machine/graph.h"

enum { ENTRY_MAX_PARAMS = 64 };

typedef struct ParamPlace {
    u8 reg; /* NO_REG: on the stack at `slot` */
    i64 slot;
} ParamPlace;

/* False with a reason if the signature is none. */
bool entry_places(const BinoptCfg *cfg, ParamPlace *places, const char **why);

/* The state at the entry; fixed parameters become constants in u->outs. False if the signature has no meaning. */
bool entry_state(Unit *u, State *s);

#endif
