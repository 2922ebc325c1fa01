/* variant.h: functions at accesses that are told how many bytes these have are made once more for each usual number, as a constant: most of such a function may go away by that. */
#ifndef TOOL_VARIANT_H
#define TOOL_VARIANT_H

#include <llvm-c/Core.h>

#include "base/base.h"
#include "tool/package.h"

/* Adds the variants (tool_variant_name) to a module with TOOL_HOOKS; their code comes with LLVM's pass always-inline. */
void tool_add_variants(LLVMModuleRef mod);

#endif
