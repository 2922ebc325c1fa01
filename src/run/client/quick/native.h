/* native.h: with --tier=opt, instructions that the lifter has no rows for. */
#ifndef RUN_CLIENT_NATIVE_H
#define RUN_CLIENT_NATIVE_H

#include "run/client/client.h"

/* After LATHE_TRAP_UNSUPPORTED at t->cpu.pc: executes the instruction as it is on the guest's state, and what follows of the kind.
 * false: it is none that can be copied, or none at all. */
bool native_run(Thread *t);
/* Is this host address in the copy of an instruction? If the CPU does not know it, native_refused is where to go on. */
bool native_holds(u64 host);

/* of native.S */
__attribute__((visibility("hidden"))) void native_leave(void);
__attribute__((visibility("hidden"))) void native_refused(void);

#endif
