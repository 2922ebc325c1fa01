/* round.h: rounding to integers by the mode that is set, which LLVM calls as nearbyint and nearbyintf, since the host has no instruction for it. */
#ifndef HOST_RISCV64_ROUND_H
#define HOST_RISCV64_ROUND_H

double riscv64_round_double(double v);
float riscv64_round_float(float v);

#endif
