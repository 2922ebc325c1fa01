/* tally.h: what a tool counts at instructions, in quick code.
 *
 * A function of a tool that only adds constants to counters is not called. Instructions that are always executed together are a run: from where
 * a jump may lead to, up to the next jump, call or other way out. The additions of all its instructions are made as one, at its beginning. Whoever
 * leaves a run in its middle (a fault, a signal, code that changes) takes back what was counted ahead. */
#ifndef RUN_CLIENT_TALLY_H
#define RUN_CLIENT_TALLY_H

#include "run/client/code/quick/emit.h"
#include "run/client/core/client.h"
#include "tool/package.h"

/* A run while its code is made; zero at first. */
typedef struct Tally {
    bool open;
    u32 insns;
    u8 *site[TOOL_COUNTS]; /* where its amounts are */
} Tally;

/* The next instruction belongs to the run that is open, or to a new one. True: a jump may lead to it. */
bool tally_insn(Tally *tally, Emitter *e);
/* The run ends here. */
void tally_end(Tally *tally);

/* The thread has left a run, of which so many instructions are not executed. */
void tally_take_back(Thread *t, u32 insns);

#endif
