/* x86_parts.h: the forms of x86-64 instructions on a host that has them all, by file. */
#ifndef HOST_X86_64_X86_PARTS_H
#define HOST_X86_64_X86_PARTS_H

#include "isa/x86_64/forms.h"

/* x86_exact.c */
Val x86_exact_unary(Lifter *l, const Insn *in, Ty ret, Val a);
Val x86_exact_binary(Lifter *l, const Insn *in, Val a, Val b);
Val x86_exact_named(Lifter *l, const char *name, Ty ret, Val a);
Val x86_exact_compare(Lifter *l, const Insn *in, Val a, Val b);

/* x86_rows.c */
Val x86_run_row(Lifter *l, const Insn *in, Val *args, u32 arg_count);

#endif
