/* entry.h: where parameters are when a function is entered, in registers or on the stack, and which of them are known. */
#ifndef BINOPT_MACHINE_ENTRY_H
#define BINOPT_MACHINE_ENTRY_H

#include "binopt/x86_64/machine/graph.h"

enum { ENTRY_MAX_PARAMS = 64 };

typedef struct ParamPlace {
    u8 reg; /* NO_REG: it is on the stack at `slot` */
    i64 slot;
} ParamPlace;

/* Returns false with a reason if the signature is not valid. */
bool entry_places(const BinoptCfg *cfg, ParamPlace *places, const char **why);

/* The state at the entry. Fixed parameters become constants in u->outs. Returns false if the signature is not valid. */
bool entry_state(MachineUnit *u, State *s);

#endif
