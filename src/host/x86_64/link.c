/* link.c: objects of x86-64, small code model. */
#include "host/link.h"

#include <elf.h>

#ifndef SHT_X86_64_UNWIND
#define SHT_X86_64_UNWIND 0x70000001
#endif

static HostRelocation relocation(u32 type) {
    switch (type) {
    case R_X86_64_NONE:
        return RELOCATION_NONE;
    case R_X86_64_64:
        return RELOCATION_ABSOLUTE_64;
    case R_X86_64_PC64:
        return RELOCATION_RELATIVE_64;
    case R_X86_64_32:
        return RELOCATION_ABSOLUTE_32;
    case R_X86_64_32S:
        return RELOCATION_ABSOLUTE_SIGNED_32;
    case R_X86_64_8:
        return RELOCATION_ABSOLUTE_8;
    case R_X86_64_PC32:
        return RELOCATION_RELATIVE_32;
    case R_X86_64_PLT32:
        return RELOCATION_CALL_32;
    case R_X86_64_GOTPCREL:
    case R_X86_64_GOTPCRELX:
    case R_X86_64_REX_GOTPCRELX:
        return RELOCATION_SLOT_32;
    }
    return RELOCATION_UNKNOWN;
}

const HostLink host_link = {
    .elf_machine = EM_X86_64,
    .unwind_section = SHT_X86_64_UNWIND,
    .fill = 0xcc,                                                  /* int3 */
    .slot_jump = {0xff, 0x25, 0xf2, 0xff, 0xff, 0xff, 0xcc, 0xcc}, /* jmp *-14(%rip): its own slot */
    .relocation = relocation,
};
