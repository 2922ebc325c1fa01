/* tally.h: what a tool counts at instructions, in quick code.
 *
 * A tool's function that only adds amounts to counters which are known beforehand is not called. Instructions that are always executed together are a
 * run: from a place where a jump may lead, up to the next jump, call or other way out. The additions of all its instructions are made as one, at its
 * beginning. If a thread leaves a run in its middle (a fault, a signal, code that changes), what was counted ahead is taken back. */
#ifndef RUN_CLIENT_TALLY_H
#define RUN_CLIENT_TALLY_H

#include "run/client/code/quick/emit.h"
#include "run/client/core/client.h"
#include "run/client/core/place.h"
#include "run/client/tool/sites.h"

/* A run while its code is made; zero at first. */
typedef struct Tally {
    bool open;
    i32 amount[TOOL_COUNTS];
    bool small; /* no amount is larger than EMIT_SMALL */
    EmitCount site[TOOL_COUNTS];
    /* If the tool has tables: a shared row (tool/table/tables.h) that stands for the additions below. rows_seen: how many the instructions have, with
     * those to the same row. */
    u32 shared, row_count, rows_seen;
    RowAdd row[TOOL_RUN_ROWS];
    EmitCount row_site;
    u64 hooks; /* a bit for each that counts here (--explain) */
} Tally;

/* True if the tool counts anything at instructions. */
bool tallies_exist(void);

/* Adds the next instruction to the open run, or begins a new one, which is emitted here. Returns true if it begins one. */
bool tally_insn(Tally *tally, Emitter *e, const SiteInsn *insn);
/* The run ends here. */
void tally_end(Tally *tally);
/* Drops a run that has just begun and whose code is not used. */
void tally_forget(Tally *tally);
/* The instruction is one of the run (--explain). */
void tally_explain(Tally *tally, const SiteInsn *insn);

/* Instruction `number` of all that are listed (blocks.h: lens) was given these amounts. */
void tally_note(u64 number, const SiteInsn *insn);
/* Adds the amounts of an instruction. */
void tally_add(u64 number, TallySum *sum);
void tallies_forget_all(void);

/* The thread has left a run, of which these amounts are not counted. */
void tally_take_back(Thread *t, const TallySum *ahead);

#endif
