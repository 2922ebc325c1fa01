/* caller.h: a function of the guest that has been called and has not returned: its registers, and how they were in its caller, as far as only the guest's ABI says
 * that. guest/NAME/caller.c has these functions. */
#ifndef RUN_CLIENT_CALLER_H
#define RUN_CLIENT_CALLER_H

#include "run/client/core/guest.h"

enum { CALLER_REGISTERS = 33 };

typedef struct Caller {
    u64 pc;
    u64 reg[CALLER_REGISTERS]; /* by the numbers that DWARF has for them */
} Caller;

/* The number of the stack pointer. */
u32 caller_sp_number(void);

/* The function that a thread with this state is in. */
Caller caller_first(const GuestCpu *cpu);

/* The caller of the function in *c, in its place; false: it is not found. For a function that has executed nothing yet; and for one that has a frame pointer. */
bool caller_at_entry(Caller *c);
bool caller_by_pointer(Caller *c);
/* Likewise, by what the instructions of the function do to the stack from its beginning `start` on. `behind_call`: pc is behind a call. */
bool caller_by_code(Caller *c, u64 start, bool behind_call);
/* True if pc is where handlers of signals return to; then *c becomes what the signal interrupted. */
bool caller_is_signal(Caller *c);

#endif
