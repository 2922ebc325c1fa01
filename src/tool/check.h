/* check.h: finds mistakes in a tool, when it is built, that would show only while it watches a program, or never. */
#ifndef TOOL_CHECK_H
#define TOOL_CHECK_H

#include <llvm-c/Core.h>

#include "base/base.h"

/* Is all right with a hook, whose number, from 1 on, messages have? Its function is one of the tool's. False: `why` is a sentence about what is wrong. */
bool tool_check_hook(LLVMValueRef hook, u32 number, char *why, size_t why_size);
/* Is a value, LatheWhat, known when code is translated? */
bool tool_is_known_ahead(u64 what);
/* Does the tool use only what lathe/tool.h has, and as it has to be used? Likewise. */
bool tool_check_uses(LLVMModuleRef mod, char *why, size_t why_size);

#endif
