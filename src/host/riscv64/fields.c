/* fields.c: see fields.h. A distance is in two instructions: the upper 20 bits in one, the lower twelve in another one, which adds them with their sign. */
#include "host/riscv64/fields.h"

#include <elf.h>

/* The bits of `mask` in the instruction become those of the value. */
static void set_bits(u8 *code, u32 mask, u32 value) {
    u32 word;
    memcpy(&word, code, sizeof(word));
    word = (word & ~mask) | (value & mask);
    memcpy(code, &word, sizeof(word));
}

static bool set_upper(u8 *code, u64 distance) {
    u64 rounded = distance + 0x800;
    set_bits(code, 0xfffff000, (u32)rounded);
    return rounded == (u64)(i64)(i32)rounded;
}

/* In instructions that load, add or jump. */
static void set_lower(u8 *code, u64 distance) {
    set_bits(code, 0xfff00000, (u32)distance << 20);
}

/* In those that store. */
static void set_lower_of_store(u8 *code, u64 distance) {
    set_bits(code, 0xfe000f80, ((u32)distance >> 5 & 0x7f) << 25 | ((u32)distance & 31) << 7);
}

bool riscv64_insert(u32 type, u8 *code, u64 value) {
    switch (type) {
    case R_RISCV_CALL:
    case R_RISCV_CALL_PLT:
        set_lower(code + 4, value);
        return set_upper(code, value);
    case R_RISCV_PCREL_HI20:
    case R_RISCV_GOT_HI20:
        return set_upper(code, value);
    case R_RISCV_PCREL_LO12_I:
        set_lower(code, value);
        return true;
    case R_RISCV_PCREL_LO12_S:
        set_lower_of_store(code, value);
        return true;
    }
    return false;
}
