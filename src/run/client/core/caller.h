/* caller.h: from a function of the guest to its caller: what the registers will be when the function has returned. These are the ways that need
 * nothing but the guest's ABI; tool/unwind has those by unwind tables. guest/NAME/caller.c has these functions. */
#ifndef RUN_CLIENT_CALLER_H
#define RUN_CLIENT_CALLER_H

#include "run/client/core/guest.h"

enum { CALLER_REGISTERS = 33 };

/* A function that has been called and has not returned. */
typedef struct Caller {
    u64 pc;
    u64 reg[CALLER_REGISTERS]; /* by the numbers that DWARF has for them */
} Caller;

/* The number of the stack pointer. */
u32 caller_sp_number(void);

/* The function that a thread with this state is in. */
Caller caller_first(const GuestCpu *cpu);

/* Each replaces the function in *c by its caller, and returns false if the caller cannot be found.
 * caller_at_entry: for a function that has executed no instruction yet. caller_by_pointer: for a function with a frame pointer.
 * caller_by_code: by what the instructions of the function from its beginning `start` up to pc have done to the stack. behind_call: pc is behind a call. */
bool caller_at_entry(Caller *c);
bool caller_by_pointer(Caller *c);
bool caller_by_code(Caller *c, u64 start, bool behind_call);
/* If pc is where handlers of signals return to, replaces *c by the function that the signal has interrupted and returns true. */
bool caller_is_signal(Caller *c);

#endif
