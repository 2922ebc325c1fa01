/* stencils.h: runs cases as code of stencils, one instruction after another; see stencils.c. */
#ifndef ISA_STENCILS_H
#define ISA_STENCILS_H

#include "program.h"

typedef struct Stencils Stencils;

/* tools: of another host, or without any. */
Stencils *stencils_new(const CaseList *list, const HostedTools *tools);
void stencils_free(Stencils *s);

/* NULL: every instruction of the case has a stencil; else the name of one that has none. */
const char *stencils_missing(const Stencils *s, size_t index);
/* As lifted_run. */
bool stencils_run(Stencils *s, size_t index, State *state);

#endif
