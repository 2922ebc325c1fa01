/* forms.h: what a host may have for instructions of this guest that is better than plain IR.
 *
 * A host that runs these instructions itself (Host.x86_64) has all of these forms; any other has none, and then meanings are plain
 * IR or calls of C functions, which every LLVM target compiles. */
#ifndef ISA_X86_64_FORMS_H
#define ISA_X86_64_FORMS_H

#include "isa/x86_64/x86_64.h"

typedef struct X86Forms {
    /* The instruction by its row, on values: whatever its result is. Only of rows that have such a form (SIMD, cryptography). */
    Val (*run)(Lifter *l, const Insn *in, Val *args, u32 arg_count);
    /* Strict floating point: fp_exact.h. */
    Val (*exact_unary)(Lifter *l, const Insn *in, Ty ret, Val a);
    Val (*exact_binary)(Lifter *l, const Insn *in, Val a, Val b);
    Val (*exact_named)(Lifter *l, const char *name, Ty ret, Val a);
    Val (*exact_compare)(Lifter *l, const Insn *in, Val a, Val b);
    /* Conversions of a scalar, or of a vector to four integers: the indefinite integer where there is none. */
    Val (*to_int)(Lifter *l, bool truncates, Val v, Ty to);
    Val (*to_four_ints)(Lifter *l, bool truncates, Val v);
    /* What a string compare says, on two strings, or two strings each with its length, and the control byte: index, mask, flag. */
    Val (*compare_strings)(Lifter *l, const char *what, Val *args, u32 arg_count);
    /* rep movs (other: the source) or rep stos (other: the value), upwards. */
    void (*repeat)(Lifter *l, bool stores, Ty t, Val dst, Val count, Val other);
    void (*load_mxcsr)(Lifter *l, Val slot); /* from memory */
    void (*store_mxcsr)(Lifter *l, Val slot);
    Val (*read_fs_base)(Lifter *l);
    void (*write_fs_base)(Lifter *l, Val base);
    void (*divide)(Lifter *l, Val low, Val high, Val by, Val results[2]); /* traps where the quotient does not fit */
} X86Forms;

/* NULL: the host has none. */
static inline const X86Forms *x86_forms(const Lifter *l) {
    return l->host->x86_64;
}

/* The instruction as the host's own, or NULL. */
static inline Val x86_form(Lifter *l, const Insn *in, Val *args, u32 arg_count) {
    return x86_forms(l) ? x86_forms(l)->run(l, in, args, arg_count) : NULL;
}

#endif
