/* view.h: what a tool sees of an x86-64 instruction (isa/view.h), from tables that are made of the facts (facts.h) when Lathe is built. It
 * takes some tens of nanoseconds. */
#ifndef ISA_X86_64_VIEW_H
#define ISA_X86_64_VIEW_H

#include "isa/view.h"

bool x86_view(const u8 *bytes, size_t size, u64 pc, InsnView *view);
const char *x86_opcode_name(u32 opcode);

#endif
