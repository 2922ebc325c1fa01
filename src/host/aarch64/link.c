/* link.c: objects of aarch64, small code model. */
#include "host/link.h"

#include <elf.h>

#include "host/aarch64/fields.h"

#ifndef R_AARCH64_PLT32
#define R_AARCH64_PLT32 314
#endif

static HostRelocation relocation(u32 type) {
    switch (type) {
    case R_AARCH64_NONE:
        return RELOCATION_NONE;
    case R_AARCH64_ABS64:
        return RELOCATION_ABSOLUTE_64;
    case R_AARCH64_PREL64:
        return RELOCATION_RELATIVE_64;
    case R_AARCH64_ABS32:
        return RELOCATION_ABSOLUTE_32;
    case R_AARCH64_PREL32:
    case R_AARCH64_PLT32:
        return RELOCATION_RELATIVE_32;
    case R_AARCH64_CALL26:
    case R_AARCH64_JUMP26:
        return RELOCATION_FIELD_CALL;
    case R_AARCH64_CONDBR19:
    case R_AARCH64_TSTBR14:
    case R_AARCH64_LD_PREL_LO19:
    case R_AARCH64_ADR_PREL_LO21:
        return RELOCATION_FIELD_RELATIVE;
    case R_AARCH64_ADR_PREL_PG_HI21:
    case R_AARCH64_ADR_PREL_PG_HI21_NC:
        return RELOCATION_FIELD_PAGE;
    case R_AARCH64_ADR_GOT_PAGE:
        return RELOCATION_FIELD_SLOT_PAGE;
    case R_AARCH64_LD64_GOT_LO12_NC:
        return RELOCATION_FIELD_SLOT;
    case R_AARCH64_ADD_ABS_LO12_NC:
    case R_AARCH64_LDST8_ABS_LO12_NC:
    case R_AARCH64_LDST16_ABS_LO12_NC:
    case R_AARCH64_LDST32_ABS_LO12_NC:
    case R_AARCH64_LDST64_ABS_LO12_NC:
    case R_AARCH64_LDST128_ABS_LO12_NC:
    case R_AARCH64_MOVW_UABS_G0:
    case R_AARCH64_MOVW_UABS_G0_NC:
    case R_AARCH64_MOVW_UABS_G1:
    case R_AARCH64_MOVW_UABS_G1_NC:
    case R_AARCH64_MOVW_UABS_G2:
    case R_AARCH64_MOVW_UABS_G2_NC:
    case R_AARCH64_MOVW_UABS_G3:
        return RELOCATION_FIELD_ABSOLUTE;
    }
    return RELOCATION_UNKNOWN;
}

const HostLink host_link = {
    .elf_machine = EM_AARCH64,
    .fill = 0,                                                     /* udf #0 */
    .slot_jump = {0xd0, 0xff, 0xff, 0x58, 0x00, 0x02, 0x1f, 0xd6}, /* ldr x16, . - 8; br x16 */
    .relocation = relocation,
    .insert = aarch64_insert,
};
