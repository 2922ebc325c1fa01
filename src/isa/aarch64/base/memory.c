/* memory.c: loads and stores, which take any alignment. */
#include "isa/aarch64/families.h"

/* As the operand that it is loaded into is wide. */
static Val extended(Lifter *l, const Insn *in, int i, Val v, bool is_signed) {
    return is_signed ? ir_sext(l, v, a64_ty(in, i)) : v;
}

void a64_load(Lifter *l, const Insn *in, Ty t, bool is_signed) {
    Val v = guest_load(l, in, t, a64_address(l, in, 1), 0);
    a64_write_back(l, in, 1);
    a64_set(l, in, 0, extended(l, in, 0, v, is_signed));
}

void a64_store(Lifter *l, const Insn *in, Ty t) {
    Val v = a64_int(l, in, 0, t);
    guest_store(l, in, v, a64_address(l, in, 1), 0);
    a64_write_back(l, in, 1);
}

void a64_load_vector(Lifter *l, const Insn *in, Ty t) {
    Val v = guest_load(l, in, t, a64_address(l, in, 1), 0);
    a64_write_back(l, in, 1);
    a64_set_v(l, in, 0, v);
}

void a64_store_vector(Lifter *l, const Insn *in, Ty t) {
    Val v = a64_v(l, in, 0, t);
    guest_store(l, in, v, a64_address(l, in, 1), 0);
    a64_write_back(l, in, 1);
}

/* --------------------------------------------------------------------------------------------------------------- pairs */

static bool is_vector(const Insn *in) {
    return in->op[0].cls == A64_CLS_V;
}

/* Both are loaded before a register changes: the second may fault. */
void a64_load_pair(Lifter *l, const Insn *in, Ty t, bool is_signed) {
    Val at = a64_address(l, in, 2), first = guest_load(l, in, t, at, 0);
    Val v[] = {first, guest_load(l, in, t, ir_offset(l, at, ty_bits(t) / 8), 0)};
    a64_write_back(l, in, 2);
    for (int i = 0; i < 2; i++)
        if (is_vector(in))
            a64_set_v(l, in, i, v[i]);
        else
            a64_set(l, in, i, extended(l, in, i, v[i], is_signed));
}

void a64_store_pair(Lifter *l, const Insn *in, Ty t) {
    Val at = a64_address(l, in, 2);
    for (int i = 0; i < 2; i++) {
        Val v = is_vector(in) ? a64_v(l, in, i, t) : a64_int(l, in, i, t);
        guest_store(l, in, v, i ? ir_offset(l, at, ty_bits(t) / 8) : at, 0);
    }
    a64_write_back(l, in, 2);
}
