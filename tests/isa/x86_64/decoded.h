/* decoded.h: what an independent decoder (Zydis) knows about the instructions of a case, beyond what oracle.h asks. */
#ifndef ISA_DECODED_H
#define ISA_DECODED_H

#include "oracle.h"

/* guest_open for the first instruction only, whose state before is known, and with the flags that `ignore` had open. False: it
 * reads one of those. */
bool decoded_step_flags(const Case *c, const State *before, State *ignore);

/* Whether the manual calls the result itself, not only flags, undefined (the case's first instruction counts). */
bool decoded_result_undefined(const Case *c);

#endif
