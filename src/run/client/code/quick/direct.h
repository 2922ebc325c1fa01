/* direct.h: calls of a tool's functions that quick code makes by itself (emit_visit), without leaving for C. */
#ifndef RUN_CLIENT_DIRECT_H
#define RUN_CLIENT_DIRECT_H

#include "run/client/code/quick/emit.h"
#include "run/client/core/client.h"
#include "run/client/tool/sites.h"

enum { DIRECT_BYTES = 1920 }; /* most of the code for one phase of an instruction */

/* Emits calls of all functions of a phase, in their order. Returns false if one of them cannot be called so; then nothing was emitted. */
bool direct_emit(Emitter *e, const SiteInsn *insn, SitePhase phase);

/* direct_recall makes the tool's function that the thread is in return to a trap instead of quick code. In the trap's handler, direct_recalled
 * returns the host address of the quick code; 0: it was another trap. */
void direct_recall(Thread *t);
u64 direct_recalled(const Thread *t, u64 trap_pc);

#endif
