/* rows.c: the operands of each row, for decoding. */
#include "isa/aarch64/field.h"

#define OPS(...)                                                                                                       \
    { __VA_ARGS__ __VA_OPT__(, ) FIELD_END }
const u8 a64_fields[A64_ROW_COUNT][A64_FIELDS + 1] = {
    {FIELD_END},
#define INSN(name, bits, fields, meaning) fields,
#define DEVIATES(name, bits, fields, meaning, text) fields,
#include "isa/aarch64/rows.def"
#undef INSN
#undef DEVIATES
};
