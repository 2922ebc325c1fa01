/* copies.h: copies of structures as moves of words. LLVM makes a repeated string instruction of one that has 65 to 128 bytes, since functions of tools have no vector registers; a function that has such an
 * instruction cannot be called from translated code, which is left for it. */
#ifndef TOOL_COPIES_H
#define TOOL_COPIES_H

#include <llvm-c/Core.h>

/* Larger copies are calls of memcpy, and smaller ones are a few moves already. */
void tool_expand_copies(LLVMModuleRef mod);

#endif
