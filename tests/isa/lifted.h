/* lifted.h: runs cases as lifted, compiled code. */
#ifndef ISA_LIFTED_H
#define ISA_LIFTED_H

#include "cases.h"

typedef enum LiftedMode { LIFTED_UNOPTIMISED, LIFTED_OPTIMISED, LIFTED_PIC, LIFTED_MODES } LiftedMode;

extern const char *const lifted_mode_names[LIFTED_MODES];

typedef struct Lifted Lifted;

/* Lifts and compiles all cases in one mode. What cannot be lifted is reported by lifted_problem. */
Lifted *lifted_new(const CaseList *list, LiftedMode mode);
void lifted_free(Lifted *l);

/* Why a case has no code: NULL if it has. */
const char *lifted_problem(const Lifted *l, size_t index);

/* Runs a case that has code. False: a signal ended it, and of the state only the trap is meaningful. */
bool lifted_run(const Lifted *l, size_t index, State *s);

#endif
