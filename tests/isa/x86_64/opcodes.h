/* opcodes.h: every opcode, for tests that hold one model of x86-64 instructions against another. */
#ifndef ISA_X86_64_OPCODES_H
#define ISA_X86_64_OPCODES_H

#include "base/base.h"

/* Calls visit with bytes that begin with each opcode in turn: of the legacy maps with the prefixes that matter and each ModRM byte, of
 * VEX, EVEX and XOP with each mandatory prefix, W and vector length and a ModRM byte of each form. Most, but not all, are
 * instructions. There are always enough bytes for one. */
void opcodes_each(void (*visit)(void *self, const u8 *bytes, size_t size), void *self);

#endif
