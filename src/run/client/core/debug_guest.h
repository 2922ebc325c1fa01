/* debug_guest.h: what a debugger has to know of a kind of guest: its registers, in gdb's order. The folder guest/NAME has this (debug.c). */
#ifndef RUN_CLIENT_DEBUG_GUEST_H
#define RUN_CLIENT_DEBUG_GUEST_H

#include "run/client/core/client.h"

enum { DEBUG_REGISTER_BYTES = 64, DEBUG_BREAK_MOST = 4 };

/* The description of the registers in XML, as gdb wants it for a target. */
size_t debug_guest_describe(char *text, size_t size);
/* How many bytes a register has; 0: there is none of that number. */
u32 debug_guest_register_bytes(u32 number);
/* A register of a thread that is stopped; `self`: of this thread. False: its value cannot be known, or set, here. */
bool debug_guest_get(Thread *t, bool self, u32 number, u8 *value);
bool debug_guest_set(Thread *t, bool self, u32 number, const u8 *value);

/* The bytes of a breakpoint, as long as the instruction of `kind` bytes in whose place it is. Returns their number; 0: there is none of that kind. */
u32 debug_guest_breakpoint(u32 kind, u8 bytes[DEBUG_BREAK_MOST]);

#endif
