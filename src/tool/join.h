/* join.h: makes one tool of several, in LLVM-IR.
 *
 * Each tool is a file that was compiled for itself. Before its module is linked to the others, everything in it gets a name of its own; then the hooks of all
 * of them become one list, in the order of the tools. */
#ifndef TOOL_JOIN_H
#define TOOL_JOIN_H

#include <llvm-c/Core.h>

#include "base/base.h"

/* Gives names to all that the module of tool `number` defines: code that LLVM makes for the program refers to it by these. */
void tool_set_apart(LLVMModuleRef mod, u32 number);
/* Makes lathe_hooks out of those of all tools, whose modules were set apart and linked to this one. */
void tool_join_hooks(LLVMModuleRef mod, u32 tools);

#endif
