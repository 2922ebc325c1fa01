/* visit.h: calls of a tool's functions from quick code: an exit in front of an instruction, with the whole state in the Thread. */
#ifndef RUN_CLIENT_VISIT_H
#define RUN_CLIENT_VISIT_H

#include "run/client/code/quick/emit.h"
#include "run/client/core/client.h"

/* Code in front of the instruction at e->pc that calls what the tool wants called there, if anything. */
void visit_insn(Emitter *e);
/* The instruction of the last visit has so many bytes. */
void visit_note_size(u64 bytes);
/* The thread has left quick code by the exit of this visit. True: the functions were called, and it goes on behind them; false: there is a signal to be
 * delivered first. */
bool visit_call(Thread *t, u64 number);
/* The thread's state is taken at an instruction, or is whole since its last exit: what it has visited before, it does not visit again when it comes
 * back to the same place with the same stack. */
void visit_done(Thread *t);
void visit_interrupted(Thread *t);
/* All quick code is forgotten. */
void visits_forget_all(void);

#endif
