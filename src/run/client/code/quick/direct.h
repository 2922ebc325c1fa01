/* direct.h: calls of a tool's functions that quick code makes by itself (emit_visit), without leaving for C. */
#ifndef RUN_CLIENT_DIRECT_H
#define RUN_CLIENT_DIRECT_H

#include "run/client/code/quick/emit.h"
#include "run/client/core/client.h"
#include "run/client/tool/sites.h"

enum { DIRECT_BYTES = 1920 }; /* most of the code for one phase of an instruction */

/* Code that calls all functions of a phase, in their order; false: one of them cannot be called so, and nothing was emitted. */
bool direct_emit(Emitter *e, const SiteInsn *insn, SitePhase phase);

/* The function that the thread has called, and is in, will come to a trap when it returns, and not to quick code. The handler of the trap goes on in quick
 * code at what direct_recalled returns; 0: it was another trap. */
void direct_recall(Thread *t);
u64 direct_recalled(const Thread *t, u64 trap_pc);

#endif
