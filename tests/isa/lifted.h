/* lifted.h: runs cases as lifted, compiled code. */
#ifndef ISA_LIFTED_H
#define ISA_LIFTED_H

#include "cases.h"

typedef enum LiftedMode {
    LIFTED_UNOPTIMISED,
    LIFTED_OPTIMISED,
    LIFTED_PIC,
    LIFTED_MODES,
    LIFTED_MARKED =
        LIFTED_MODES, /* only the first instruction of a case, unoptimised, with a marker at each access to memory */
} LiftedMode;

extern const char *const lifted_mode_names[LIFTED_MODES];

/* The symbol that code addresses are relative to in position-independent mode. */
#define LIFTED_PIC_SYMBOL "guest_code"

typedef struct Lifted Lifted;

/* Lifts one case into a module, under that name. NULL: it is lifted; else why not. */
const char *lifted_case(const CaseList *list, size_t index, LiftedMode mode, LatheHost host, LLVMModuleRef mod,
                        Arena *a);
void lifted_name(size_t index, char name[32]);
/* After lifted code has returned: that control left the case's bytes is no trap. */
void lifted_leave(const Case *c, State *s);

/* The trap of code that a signal has ended. */
u32 lifted_trap_of(NativeResult r);

/* Lifts and compiles all cases in one mode. What cannot be lifted is reported by lifted_problem. */
Lifted *lifted_new(const CaseList *list, LiftedMode mode);
void lifted_free(Lifted *l);

/* Why a case has no code: NULL if it has. */
const char *lifted_problem(const Lifted *l, size_t index);

/* Runs a case that has code. False: a signal ended it, and of the state only the trap is meaningful. */
bool lifted_run(const Lifted *l, size_t index, State *s);

/* An access to memory of which a marker has told: LatheConfig.mark_memory. */
typedef struct LiftedMark {
    u64 pc, address;
    u32 bytes, kind; /* kind: 1 load, 2 store, 3 both */
} LiftedMark;

/* Those of the last run in LIFTED_MARKED, in order; more than so many are not kept. */
enum { LIFTED_MARKS = 256 };
size_t lifted_marks(const LiftedMark **marks);

#endif
