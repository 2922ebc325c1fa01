/* rows.c: the operands of each row, for decoding. */
#include "isa/riscv64/format.h"

static const RvRow rows[RV_ROW_COUNT] = {
#define INSN(name, bits, format, meaning) {RV_FMT_##format, RV_ROW_##name},
#define DEVIATES(name, bits, format, meaning, text) {RV_FMT_##format, RV_ROW_##name},
#define SHORT(name, bits, format, meant) {RV_FMT_##format, RV_ROW_##meant},
#define FUSED(name, meaning) {RV_FMT_NONE, RV_ROW_##name},
    {RV_FMT_NONE, RV_ROW_NONE},
#include "isa/riscv64/rows.def"
#undef INSN
#undef DEVIATES
#undef SHORT
#undef FUSED
};

const RvRow *rv_row(u32 row) {
    return &rows[row];
}
