/* fields.h: what relocations of riscv64's objects write: fields of instructions. */
#ifndef HOST_RISCV64_FIELDS_H
#define HOST_RISCV64_FIELDS_H

#include "base/base.h"

/* As HostLink.insert. */
bool riscv64_insert(u32 type, u8 *code, u64 value);

#endif
