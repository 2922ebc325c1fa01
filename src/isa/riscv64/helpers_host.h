/* helpers_host.h: what a host with an environment for floating point of this guest (forms.h) supplies to its helpers. */
#ifndef ISA_RISCV64_HELPERS_HOST_H
#define ISA_RISCV64_HELPERS_HOST_H

#include "base/base.h"

/* Where the host has no instruction for it, LLVM calls fma and fmaf. These round as the host does, and leave it the flags. */
double rv_host_fma(double a, double b, double c);
float rv_host_fmaf(float a, float b, float c);

/* The flags in the host's environment, as fflags has them; and that environment anew, without flags, which rounds as frm says. */
u8 rv_host_flags(void);
void rv_host_begin(u8 frm);

#endif
