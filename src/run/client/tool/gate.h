/* gate.h: how functions of a tool reach those of lathe/tool.h.
 *
 * Quick code calls a tool's function with the guest's values in all registers that it has not saved, and saves only those that the function's own
 * instructions change. A function of lathe/tool.h is C of the client, which may change more; so it is reached through a gate, a piece of code that keeps all
 * registers but two (gate.S). */
#ifndef RUN_CLIENT_TOOL_GATE_H
#define RUN_CLIENT_TOOL_GATE_H

#include "run/client/core/client.h"

/* Makes the gate to a function of this name; 0: there are too many. One that is short and keeps registers by itself needs none: what is returned is a copy of
 * it, near the tool's code. */
u64 gate_new(const char *name, u64 function);
/* Nothing is added any more: the gates can be run from now on, and not be written. */
bool gates_close(void);
/* Does a gate begin here? And is it one to a function that wants the guest's whole state in the Thread? */
bool gate_is(u64 address);
bool gate_wants_state(u64 address);
/* Where the thread returns to in a function of the tool's from the gate that it went through last; 0: it is in none. */
u64 gate_last_return(const Thread *t);
/* Is there one that wants the state at all? */
bool gates_want_state(void);

#endif
