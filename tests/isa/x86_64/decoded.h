/* decoded.h: what an independent decoder (Zydis) knows about the instructions of a case. */
#ifndef ISA_DECODED_H
#define ISA_DECODED_H

#include "cases.h"

/* Leaves open in `ignore` the flags that the manual calls undefined after the case's instructions, run in sequence. */
void decoded_open_flags(const Case *c, const State *initial, State *ignore);

/* The same for the first instruction only, whose state before is known, and with the flags that `ignore` had open. False: it
 * reads one of those. */
bool decoded_step_flags(const Case *c, const State *before, State *ignore);

/* Whether the manual calls the result itself, not only flags, undefined (the case's first instruction counts). */
bool decoded_result_undefined(const Case *c, const State *initial);

/* The lower-case mnemonics of the case's instructions, by index from 0; NULL after the last. */
const char *decoded_mnemonic(const Case *c, size_t index);

/* Whether the manual calls a flag (an index into "ODISZAPC") undefined after the instruction in any case. */
bool decoded_may_be_undefined(const Case *c, size_t index, unsigned flag);

#endif
