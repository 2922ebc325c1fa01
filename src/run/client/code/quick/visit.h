/* visit.h: calls of a tool's functions from quick code, in front of an instruction, behind it, or in a loop of its passes: directly (direct.h), or, where
 * the maker of code cannot do that, by an exit, with the whole state in the Thread. Which functions these are, and what they are given, is for tool/sites.h
 * to say. */
#ifndef RUN_CLIENT_VISIT_H
#define RUN_CLIENT_VISIT_H

#include "run/client/code/quick/emit.h"
#include "run/client/core/client.h"
#include "run/client/tool/sites.h"

/* Code that calls what the tool wants called in this phase of the instruction, if anything. True: it leaves quick code. Whoever does that has counted nothing ahead. */
bool visit_emit(Emitter *e, const SiteInsn *insn, SitePhase phase);
/* Code that calls functions of hooks with `once`, if there are any here. It leaves quick code as long as they were not called; whoever does that has counted nothing ahead. `insns`: so
 * many instructions, with this one, the code may have before it goes on elsewhere. */
bool visit_emit_once(Emitter *e, const SiteInsn *insn, u32 insns);
/* In a copy of the program, nothing was called yet. */
void visits_after_fork(void);
/* The thread has left quick code by the exit of this visit. True: the functions were called, and it goes on behind them; false: it goes on at t->cpu.pc, since there
 * is a signal to be delivered first, or the code is forgotten. */
bool visit_call(Thread *t, u64 number);
/* The thread has done an instruction outside of quick code, and is behind it: calls what is to be called there. `number` is what visit_behind has returned. */
void visit_call_behind(Thread *t, u32 number);
/* The number of the visit behind an instruction that is not done in quick code; 0: there is none. */
u32 visit_behind(const SiteInsn *insn);
/* The thread's state is taken at an instruction, or is whole since its last exit: what it has visited before, it does not visit again when it comes
 * back to the same place with the same stack. */
void visit_done(Thread *t);
void visit_interrupted(Thread *t);

#endif
