/* fields.c: see fields.h. */
#include "host/aarch64/fields.h"

#include <elf.h>

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

/* The uppermost 16 bits of a number with a sign, by movz or movn: the other ones become those of the sign. */
static bool set_signed(u8 *code, u32 shift, u64 value) {
    bool negative = value >> 63;
    set_field(code, 30, 1, !negative);
    set_field(code, 5, 16, (negative ? ~value : value) >> shift);
    return fits_signed(value, shift + 16);
}

/* 16 bits of a number; all: there are no others above them. */
static bool set_wide(u8 *code, u32 shift, bool all, u64 value) {
    set_field(code, 5, 16, value >> shift);
    return !all || value >> shift <= UINT16_MAX;
}

bool aarch64_insert(u32 type, u8 *code, u64 value) {
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
    case R_AARCH64_MOVW_SABS_G1:
        return set_signed(code, 16, value);
    case R_AARCH64_MOVW_UABS_G3:
        return set_wide(code, 48, true, value);
    }
    return false;
}
