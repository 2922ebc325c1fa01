/* fields.h: what relocations of aarch64's objects write: fields of instructions. */
#ifndef HOST_AARCH64_FIELDS_H
#define HOST_AARCH64_FIELDS_H

#include "base/base.h"

/* As HostLink.insert. */
bool aarch64_insert(u32 type, u8 *code, u64 value);

/* patch.c: writes a value into a stencil's patch, whose instruction is at `code`, and runs at `at`: a relocation's number less AARCH64_PATCH_FIRST says where. False: it is
 * too far away. */
enum { AARCH64_PATCH_FIRST = 256 };
bool aarch64_patch(u8 *code, u64 at, u32 how, u64 value);

#endif
