/* rewriter.h: what the rewriters that work on machine instructions have in common. */
#ifndef BINOPT_MACHINE_REWRITER_H
#define BINOPT_MACHINE_REWRITER_H

#include "binopt/choice/choice.h"
#include "binopt/x86_64/machine/graph.h"

/* Makes u->blocks, the first one for the entry; what cannot be done it says in u->hopeless. */
typedef void Build(Unit *u, const State *entry);

/* Where nobody is in a hurry. */
enum { MACHINE_WORK = 40000 };

void *machine_open(void);
void machine_close(void *self);
/* `most_work` is in instructions that are followed. If `gains` is not NULL, code that gains nothing is made, too, and it says whether. */
BinoptFunc machine_specialize(void *self, const BinoptCfg *cfg, Build *build, u64 most_work, bool *gains);
/* What an application gets of that: see choice.h. */
BinoptFunc machine_offer(void *self, const BinoptCfg *cfg, Build *build);
/* What either of the two has returned is no longer needed. */
void machine_release(void *self, BinoptFunc made);
void machine_reason(void *self, BinoptFunc made, char *text, size_t size);
/* A function that was made stays until `self` is closed: something was made from it that may lead there. Others are ignored. */
void machine_keep(void *self, BinoptFunc made);
size_t machine_code_bytes(void *self, BinoptFunc made);
Places *machine_places(void *self);

#endif
