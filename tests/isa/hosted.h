/* hosted.h: runs cases as code that was lifted for another host: linked into one program, which qemu runs. */
#ifndef ISA_HOSTED_H
#define ISA_HOSTED_H

#include "lifted.h"
#include "program.h"

typedef struct Hosted Hosted;

/* Lifts, compiles and links all cases. Ends the process if they cannot be linked. */
Hosted *hosted_new(const CaseList *list, LiftedMode mode, const HostedTools *tools);
void hosted_free(Hosted *h);

/* Why a case has no code: NULL if it has. */
const char *hosted_problem(const Hosted *h, size_t index);

/* What --support says of an instruction of the case whose results are not exact on that host; NULL: nothing. */
const char *hosted_deviation(const Hosted *h, const Case *c);

/* Runs a case that has code. False: a signal ended it, and of the state only the trap is meaningful. */
bool hosted_run(Hosted *h, size_t index, State *s);

#endif
