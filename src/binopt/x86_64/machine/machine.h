/* machine.h: what the rewriters that work on machine instructions have in common. */
#ifndef BINOPT_MACHINE_MACHINE_H
#define BINOPT_MACHINE_MACHINE_H

#include "binopt/choice/choice.h"
#include "binopt/x86_64/machine/graph.h"

/* Makes u->blocks, the first one for the entry. If that is impossible, sets u->hopeless. */
typedef void Build(MachineUnit *u, const State *entry);

/* The work that is allowed when there is no hurry. */
enum { MACHINE_WORK = 40000 };

void *machine_open(void);
void machine_close(void *self);
/* `most_work` counts instructions that are followed. If `gains` is not NULL, code is made even if nothing is gained,
 * and *gains says whether something is. */
BinoptFunc machine_specialize(void *self, const BinoptCfg *cfg, Build *build, u64 most_work, bool *gains);
/* Makes the function that an application gets: see choice.h. */
BinoptFunc machine_offer(void *self, const BinoptCfg *cfg, Build *build);
/* A function that one of the two has returned is no longer needed. */
void machine_release(void *self, BinoptFunc made);
void machine_reason(void *self, BinoptFunc made, char *text, size_t size);
/* Keeps a function that was made until `self` is closed, because code that was made from it may lead there. Other
 * functions are ignored. */
void machine_keep(void *self, BinoptFunc made);
size_t machine_code_bytes(void *self, BinoptFunc made);
Places *machine_places(void *self);

#endif
