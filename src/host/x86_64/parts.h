/* parts.h: the parts that x86-64 as a host is made of. */
#ifndef HOST_X86_64_PARTS_H
#define HOST_X86_64_PARTS_H

#include "host/host.h"

extern const struct X86Forms x86_64_forms_x86;     /* x86_forms.c */
extern const struct RvForms x86_64_forms_riscv;    /* riscv_forms.c */
extern const struct A64Forms x86_64_forms_aarch64; /* aarch64_forms.c */
extern const HostStackCall x86_64_stack_call;      /* stack_call.c */
extern const HostRaise x86_64_raise;               /* raise.c */

/* raise_system.c: assembly, and what HostRaise has of the same names */
extern const char x86_64_raise_system[], x86_64_raise_start[];
const char *x86_64_raise_kept(const u8 *code, size_t size);
bool x86_64_raise_is_system_call(const u8 *code, size_t size);
bool x86_64_raise_starts_thread(u64 number);

extern const struct HostStencil x86_64_stencil; /* stencil.c */

bool x86_64_keeps_vectors(const u8 *code, size_t size, unsigned vectors); /* vectors.c */

#endif
