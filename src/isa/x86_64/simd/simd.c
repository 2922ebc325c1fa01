/* simd.c: see simd.h. */
#include "isa/x86_64/simd/simd.h"
#include "isa/x86_64/forms.h"

#define VECTOR_BITS 128

Val simd_read(Lifter *l, const Insn *in, int i, Ty t) {
    bool must_align = ty_bits(t) == VECTOR_BITS && !(in->prefixes & (PREFIX_VEX | PREFIX_EVEX));
    return must_align ? operand_aligned(l, in, i, t) : operand_as(l, in, i, t);
}

bool simd_same(const Insn *in) {
    return is_reg(in, 0) && is_reg(in, 1) && in->op[0].cls == in->op[1].cls && in->op[0].no == in->op[1].no;
}

Ty simd_at_hand(Lifter *l, const Insn *in, int i) {
    static const Ty others[] = {VECTOR(F32, 4), VECTOR(F64, 2), VECTOR(I32, 4), VECTOR(I8, 16), VECTOR(I16, 8)};
    Ty plain = VECTOR(I64, 2);
    if (!is_cls(in, i, CLS_VEC) || reg_has(l, (Reg)(XMM0 + in->op[i].no), plain))
        return plain;
    for (size_t k = 0; k < ARRAY_LEN(others); k++)
        if (reg_has(l, (Reg)(XMM0 + in->op[i].no), others[k]))
            return others[k];
    return plain;
}

Ty simd_elem_at_hand(Lifter *l, const Insn *in, int i, u32 bits) {
    Ty at_hand = ty_elem(simd_at_hand(l, in, i));
    return ty_is_float(at_hand) && ty_bits(at_hand) == bits ? at_hand : ty_int(bits);
}

Val simd_widen(Lifter *l, Val v) {
    int lanes[64];
    u32 n = ty_lanes(ir_ty(v));
    for (u32 i = 0; i < 2 * n; i++)
        lanes[i] = i < n ? (int)i : -1;
    return ir_shuffle(l, v, v, lanes, 2 * n);
}

Val simd_narrow(Lifter *l, Val v) {
    int lanes[64];
    u32 n = ty_lanes(ir_ty(v)) / 2;
    for (u32 i = 0; i < n; i++)
        lanes[i] = (int)i;
    return ir_shuffle(l, v, v, lanes, n);
}
