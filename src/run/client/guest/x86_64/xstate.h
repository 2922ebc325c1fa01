/* xstate.h: the vector and x87 registers of the host, as the kernel puts them into signal frames. In quick code they are the guest's. */
#ifndef RUN_CLIENT_XSTATE_H
#define RUN_CLIENT_XSTATE_H

#include "base/base.h"

enum { XSTATE_ALIGN = 64 }; /* of areas */

/* Has the host registers beyond those of fxsave? Then frames say so (uc_flags). */
bool xstate_is_extended(void);
/* Bytes of an area. */
u32 xstate_size(void);
/* The registers into an area. */
void xstate_save(void *area);
/* And back; false: no registers can be so, and they are as they were. */
bool xstate_load(const void *area);
/* As after exec. */
void xstate_reset(void);

#endif
