/* link.c: objects of aarch64, small code model. */
#include "host/link.h"

#include <elf.h>

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

/* Bits [at, at + width) of the instruction become the lowest of the value. */
static void set_field(u8 *code, u32 at, u32 width, u64 value) {
    u32 word, mask = ((1u << width) - 1) << at;
    memcpy(&word, code, sizeof(word));
    word = (word & ~mask) | ((u32)value << at & mask);
    memcpy(code, &word, sizeof(word));
}

static bool fits_signed(u64 value, u32 bits) {
    return value + ((u64)1 << (bits - 1)) < (u64)1 << bits;
}

/* A distance in instructions. */
static bool set_distance(u8 *code, u32 at, u32 width, u64 distance) {
    if (distance & 3 || !fits_signed(distance, width + 2))
        return false;
    set_field(code, at, width, distance >> 2);
    return true;
}

/* What adr and adrp add: its lowest two bits are in another place. */
static bool set_adr(u8 *code, u64 value) {
    if (!fits_signed(value, 21))
        return false;
    set_field(code, 29, 2, value);
    set_field(code, 5, 19, value >> 2);
    return true;
}

/* The lowest twelve bits of an address, counted in units of 1 << scale bytes. */
static bool set_low(u8 *code, u32 scale, u64 address) {
    u64 low = address & 0xfff;
    if (low & ((1u << scale) - 1))
        return false;
    set_field(code, 10, 12, low >> scale);
    return true;
}

/* 16 bits of a number; all: there are no others above them. */
static bool set_wide(u8 *code, u32 shift, bool all, u64 value) {
    set_field(code, 5, 16, value >> shift);
    return !all || value >> shift <= UINT16_MAX;
}

static bool insert(u32 type, u8 *code, u64 value) {
    switch (type) {
    case R_AARCH64_CALL26:
    case R_AARCH64_JUMP26:
        return set_distance(code, 0, 26, value);
    case R_AARCH64_CONDBR19:
    case R_AARCH64_LD_PREL_LO19:
        return set_distance(code, 5, 19, value);
    case R_AARCH64_TSTBR14:
        return set_distance(code, 5, 14, value);
    case R_AARCH64_ADR_PREL_LO21:
        return set_adr(code, value);
    case R_AARCH64_ADR_PREL_PG_HI21:
    case R_AARCH64_ADR_GOT_PAGE:
        return set_adr(code, (u64)((i64)value >> 12));
    case R_AARCH64_ADR_PREL_PG_HI21_NC:
        set_adr(code, (u64)((i64)value >> 12) & 0xfffff);
        return true;
    case R_AARCH64_ADD_ABS_LO12_NC:
    case R_AARCH64_LDST8_ABS_LO12_NC:
        return set_low(code, 0, value);
    case R_AARCH64_LDST16_ABS_LO12_NC:
        return set_low(code, 1, value);
    case R_AARCH64_LDST32_ABS_LO12_NC:
        return set_low(code, 2, value);
    case R_AARCH64_LDST64_ABS_LO12_NC:
    case R_AARCH64_LD64_GOT_LO12_NC:
        return set_low(code, 3, value);
    case R_AARCH64_LDST128_ABS_LO12_NC:
        return set_low(code, 4, value);
    case R_AARCH64_MOVW_UABS_G0:
    case R_AARCH64_MOVW_UABS_G0_NC:
        return set_wide(code, 0, type == R_AARCH64_MOVW_UABS_G0, value);
    case R_AARCH64_MOVW_UABS_G1:
    case R_AARCH64_MOVW_UABS_G1_NC:
        return set_wide(code, 16, type == R_AARCH64_MOVW_UABS_G1, value);
    case R_AARCH64_MOVW_UABS_G2:
    case R_AARCH64_MOVW_UABS_G2_NC:
        return set_wide(code, 32, type == R_AARCH64_MOVW_UABS_G2, value);
    case R_AARCH64_MOVW_UABS_G3:
        return set_wide(code, 48, true, value);
    }
    return false;
}

enum { JUMP_BYTES = 4 };

static u32 last_word(const u8 *code, u32 size) {
    u32 word;
    memcpy(&word, code + size - sizeof(word), sizeof(word));
    return word;
}

/* b */
static bool ends_with_jump(const u8 *code, u32 size) {
    return size >= JUMP_BYTES && last_word(code, size) >> 26 == 5;
}

/* b.cond has its condition in the lowest bits; cbz and tbz have it in bit 24. */
static bool invert_branch(u8 *code, u32 size) {
    if (size < JUMP_BYTES)
        return false;
    u32 word = last_word(code, size);
    bool by_flags = (word & 0xff000010) == 0x54000000, by_register = (word & 0x7c000000) == 0x34000000;
    word ^= by_flags ? 1 : 1 << 24;
    if (by_flags || by_register)
        memcpy(code + size - sizeof(word), &word, sizeof(word));
    return by_flags || by_register;
}

const HostLink host_link = {
    .elf_machine = EM_AARCH64,
    .fill = 0,                                                     /* udf #0 */
    .slot_jump = {0xd0, 0xff, 0xff, 0x58, 0x00, 0x02, 0x1f, 0xd6}, /* ldr x16, . - 8; br x16 */
    .relocation = relocation,
    .insert = insert,
    .jump_bytes = JUMP_BYTES,
    .ends_with_jump = ends_with_jump,
    .invert_branch = invert_branch,
};
