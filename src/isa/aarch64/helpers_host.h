/* helpers_host.h: the environment of floating point that the host has for the guest; each host has these in its own way. */
#ifndef ISA_AARCH64_HELPERS_HOST_H
#define ISA_AARCH64_HELPERS_HOST_H

#include "base/base.h"

u32 a64_host_flags(void);      /* in the order of fpsr */
void a64_host_begin(u32 fpcr); /* its modes, and no flags */

#endif
