/* round.c: see round.h. */
#include "host/riscv64/round.h"

#include "base/base.h"

/* Numbers that have a fraction are smaller than this, and others stay as they are, as those do that are none. The host's flags are nobody's. */
double riscv64_round_double(double v) {
    const double whole = (double)((u64)1 << 52);
    i64 rounded;
    if (!(__builtin_fabs(v) < whole))
        return v + 0; /* a signaling NaN becomes a quiet one */
    __asm__("fcvt.l.d %0, %1, dyn" : "=r"(rounded) : "f"(v));
    return __builtin_copysign((double)rounded, v);
}

float riscv64_round_float(float v) {
    return (float)riscv64_round_double(v);
}
