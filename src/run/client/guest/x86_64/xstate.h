/* xstate.h: the guest's vector and x87 registers, as the kernel puts them into signal frames. They are the host's own in quick code, and
 * in LatheX86Cpu with --tier=opt. */
#ifndef RUN_CLIENT_XSTATE_H
#define RUN_CLIENT_XSTATE_H

#include "lathe/types.h"
#include "run/client/core/sys.h"

/* Components of xsave: registers that the host may have. */
enum { XSTATE_YMM = 0x6, XSTATE_ZMM = 0xe6 };
u64 xstate_features(void); /* 0: no xsave */

enum { XSTATE_ALIGN = 64 }; /* alignment of areas */
u32 xstate_size(void);      /* size of an area in bytes */

/* Saves the registers to an area; cpu NULL: the host's registers. */
void xstate_save(const LatheX86Cpu *cpu, void *area);
/* Loads them from an area in guest memory. Returns false, and changes nothing, if it cannot be read or is not valid. */
bool xstate_load(LatheX86Cpu *cpu, u64 area);
/* The same from an area that xstate_save has filled, and whose registers were changed since; the upper halves of the ymm registers, which may have been unused then, count. */
bool xstate_put(LatheX86Cpu *cpu, void *area);
u32 xstate_upper_halves(void); /* where in an area these are; 0: the host has none */
/* Moves the registers from cpu to the host's. */
void xstate_move_to_host(const LatheX86Cpu *cpu);
/* Gives the registers the values that they have after exec. */
void xstate_reset(LatheX86Cpu *cpu);

#endif
