/* visit.h: visits: calls of a tool's functions from quick code, in front of an instruction, behind it, or at each pass of a repeated instruction.
 * Quick code makes the call itself (direct.h) or, where its maker cannot do that, leaves by an exit, and C makes the call with the whole state in the
 * Thread. Which functions are called, and with which arguments, is what tool/sites.h says. */
#ifndef RUN_CLIENT_VISIT_H
#define RUN_CLIENT_VISIT_H

#include "run/client/code/quick/emit.h"
#include "run/client/core/client.h"
#include "run/client/tool/sites.h"

/* Emits code that calls the tool's functions for this phase of the instruction, if there are any. Returns true if the code leaves quick code; then
 * nothing may be counted ahead there. */
bool visit_emit(Emitter *e, const SiteInsn *insn, SitePhase phase);
/* Emits an exit for functions of hooks with `once`, if there are any here, and returns true then; nothing may be counted ahead there. The exit
 * disappears when they were called. insns: how many instructions, with this one, the block may still get. */
bool visit_emit_once(Emitter *e, const SiteInsn *insn, u32 insns);
/* In the child of fork, and with code of an earlier process: functions of hooks with `once` were not called yet. */
void visits_begin_once(void);
/* The thread has left quick code by the exit of this visit. Calls the functions and returns true: the thread goes on behind the exit. Returns false,
 * without a call, if a signal has to be delivered first or the code is forgotten: the thread goes on at t->cpu.pc. */
bool visit_call(Thread *t, u64 number);
/* C has executed an instruction in place of quick code, and the thread is behind it: makes the visit behind the instruction. number: what
 * visit_behind has returned. */
void visit_call_behind(Thread *t, u32 number);
/* The number of the visit behind an instruction that C executes; 0: there is none. */
u32 visit_behind(const SiteInsn *insn);
/* A signal may come between the visit of an instruction and the instruction; then the visit is not made again when the guest comes back to it with
 * the same stack. visit_interrupted: the thread was interrupted, and its state is whole: notes such a visit. visit_done: the state was taken inside a
 * block, so there is none. */
void visit_done(Thread *t);
void visit_interrupted(Thread *t);

#endif
