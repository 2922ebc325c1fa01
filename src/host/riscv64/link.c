/* link.c: objects of riscv64, which no linker has relaxed. */
#include "host/link.h"

#include <elf.h>

#include "host/riscv64/fields.h"

static HostRelocation relocation(u32 type) {
    switch (type) {
    case R_RISCV_NONE:
        return RELOCATION_NONE;
    case R_RISCV_64:
        return RELOCATION_ABSOLUTE_64;
    case R_RISCV_32_PCREL:
        return RELOCATION_RELATIVE_32;
    case R_RISCV_ADD32:
        return RELOCATION_ADD_32;
    case R_RISCV_SUB32:
        return RELOCATION_SUBTRACT_32;
    case R_RISCV_CALL:
    case R_RISCV_CALL_PLT:
        return RELOCATION_FIELD_RELATIVE_PAIR;
    case R_RISCV_PCREL_HI20:
        return RELOCATION_FIELD_RELATIVE;
    case R_RISCV_GOT_HI20:
        return RELOCATION_FIELD_SLOT_RELATIVE;
    case R_RISCV_PCREL_LO12_I:
    case R_RISCV_PCREL_LO12_S:
        return RELOCATION_FIELD_REST;
    }
    return RELOCATION_UNKNOWN;
}

const HostLink host_link = {
    .elf_machine = EM_RISCV,
    .fill = 0, /* the instruction of which all bits are 0 is illegal */
    .relocation = relocation,
    .insert = riscv64_insert,
};
