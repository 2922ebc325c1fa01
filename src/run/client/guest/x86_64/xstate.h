/* xstate.h: the guest's vector and x87 registers, as the kernel puts them into signal frames. They are the host's own in quick code, and
 * in LatheX86Cpu with --tier=opt. */
#ifndef RUN_CLIENT_XSTATE_H
#define RUN_CLIENT_XSTATE_H

#include "lathe/types.h"
#include "run/client/core/sys.h"

/* Bits of components: what registers the host has. */
enum { XSTATE_YMM = 0x6, XSTATE_ZMM = 0xe6 };
u64 xstate_features(void); /* 0: no xsave */

enum { XSTATE_ALIGN = 64 }; /* of areas */
u32 xstate_size(void);      /* bytes of an area */

/* The registers into an area; cpu NULL: the host's. */
void xstate_save(const LatheX86Cpu *cpu, void *area);
/* And back, from guest memory; false: it cannot be read, or no registers can be so, and they are as they were. */
bool xstate_load(LatheX86Cpu *cpu, u64 area);
/* From cpu into the host's. */
void xstate_move_to_host(const LatheX86Cpu *cpu);
/* As after exec. */
void xstate_reset(LatheX86Cpu *cpu);

#endif
