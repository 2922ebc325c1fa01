/* patch.c: see fields.h. */
#include <elf.h>

#include "host/aarch64/fields.h"
#include "host/link.h"

bool aarch64_patch(u8 *code, u64 at, u32 how, u64 value) {
    u32 type = how + AARCH64_PATCH_FIRST;
    switch (type) {
    case R_AARCH64_CALL26:
    case R_AARCH64_JUMP26:
        return aarch64_insert(type, code, value - at);
    case R_AARCH64_ADR_PREL_PG_HI21:
        return aarch64_insert(type, code, page_of(value) - page_of(at));
    default:
        return aarch64_insert(type, code, value);
    }
}
