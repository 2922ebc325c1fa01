/* handler_return.h: where handlers of signals return to, for guests whose kernel has that code in its vdso. */
#ifndef RUN_CLIENT_GUEST_HANDLER_RETURN_H
#define RUN_CLIENT_GUEST_HANDLER_RETURN_H

#include "base/base.h"

/* The two instructions that make the system call rt_sigreturn; each guest's frame.c has them. */
extern const u32 handler_return_code[2];
/* Their address in the guest's memory, once frame_prepare has put them there. */
u64 handler_return_address(void);

#endif
