/* cfi.h: constants of unwind tables (DWARF 4, 6.4.2 and 7.23), for reading and writing them. */
#ifndef BINOPT_CFI_H
#define BINOPT_CFI_H

#include "base/base.h"

typedef enum Cfa {
    CFA_NOP,
    CFA_SET_LOC,
    CFA_ADVANCE_1,
    CFA_ADVANCE_2,
    CFA_ADVANCE_4,
    CFA_OFFSET_EXTENDED,
    CFA_RESTORE_EXTENDED,
    CFA_UNDEFINED,
    CFA_SAME_VALUE,
    CFA_REGISTER,
    CFA_REMEMBER,
    CFA_RESTORE_STATE,
    CFA_DEF_CFA,
    CFA_DEF_CFA_REGISTER,
    CFA_DEF_CFA_OFFSET,
    CFA_DEF_CFA_EXPRESSION,
    CFA_EXPRESSION,
    CFA_OFFSET_EXTENDED_SF,
    CFA_DEF_CFA_SF,
    CFA_DEF_CFA_OFFSET_SF,
    CFA_ARGS_SIZE = 0x2e, /* an extension of GNU */
    CFA_ADVANCE = 0x40,   /* the low bits of these three are an operand */
    CFA_OFFSET = 0x80,
    CFA_RESTORE = 0xc0,
} Cfa;

enum { CFI_RETURN_ADDRESS = 16 };

/* General registers have other numbers in unwind tables (System V ABI for x86-64, figure 3.36). */
static inline u8 cfi_from_register(u32 reg) {
    static const u8 numbers[] = {0, 2, 1, 3, 7, 6, 4, 5};
    return (u8)(reg < ARRAY_LEN(numbers) ? numbers[reg] : reg);
}
static inline u8 cfi_to_register(u64 number) {
    static const u8 registers[] = {0, 2, 1, 3, 6, 7, 5, 4};
    return (u8)(number < ARRAY_LEN(registers) ? registers[number] : number);
}

#endif
