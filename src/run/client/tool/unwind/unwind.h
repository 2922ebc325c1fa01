/* unwind.h: from a function to its caller, by what .eh_frame says. */
#ifndef RUN_CLIENT_TOOL_UNWIND_H
#define RUN_CLIENT_TOOL_UNWIND_H

#include "run/client/core/caller.h"
#include "run/client/tool/unwind/frames.h"

/* *c becomes its caller. `address` is that of the instruction, as the file has it. False: there is no caller, or the rules are damaged. */
bool unwind_step(const FrameRules *rules, u64 address, Caller *c);

#endif
