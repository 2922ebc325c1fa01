/* wrap.h: a lifted function behind a C signature, with its result in registers of one's choice. */
#ifndef LIFT_WRAP_H
#define LIFT_WRAP_H

#include "lift/func.h"

enum { WRAP_MAX_RESULTS = 4 };

/* What is taken from a register when the function returns. */
typedef struct WrapResult {
    Reg reg;
    Ty type;
} WrapResult;

/* As lathe_wrap_sysv, but the result is a struct of these instead of what the first letter of `sig` says; of one it is that one, of none
 * void. The host's convention has the members in the registers that it returns structs in, in order. */
Val wrap_with_results(Val lifted, LatheArch arch, const char *name, const char *sig, size_t stack_bytes,
                      const WrapResult *results, u32 count);

#endif
