/* fp_shuffle.c: bitwise logic on, and rearranging lanes of, floating-point registers. */
#include "isa/x86_64/families_fp.h"
#include "isa/x86_64/fp/fp_exact.h"

/* ------------------------------------------------------------------------------------------------------------ logic */

static Val combine(Lifter *l, Logic op, Val a, Val b) {
    switch (op) {
    case LOGIC_AND:
        return ir_and(l, a, b);
    case LOGIC_ANDN:
        return ir_and(l, ir_not(l, a), b);
    case LOGIC_OR:
        return ir_or(l, a, b);
    case LOGIC_XOR:
        return ir_xor(l, a, b);
    }
    CHECK(false, "a logical operation of unknown kind");
}

void fp_logic(Lifter *l, const Insn *in, Logic op, Ty t) {
    Val a = operand_as(l, in, 0, ty_as_int(t)), b = fp_source(l, in, 1, ty_as_int(t));
    set_operand(l, in, 0, combine(l, op, a, b));
}

/* --------------------------------------------------------------------------------------------------------- shuffles */

/* The lower half of the result comes from the first operand, the upper one from the second. */
void fp_shuf(Lifter *l, const Insn *in, Ty t) {
    Val a = operand_as(l, in, 0, t), b = fp_source(l, in, 1, t);
    u32 n = ty_lanes(t), field = n / 2, order = (u32)imm_value(in, 2);
    int lanes[4];
    for (u32 i = 0; i < n; i++)
        lanes[i] = (int)((order >> field * i & (n - 1)) + (i < n / 2 ? 0 : n));
    set_operand(l, in, 0, ir_shuffle(l, a, b, lanes, n));
}

void fp_unpack(Lifter *l, const Insn *in, u32 half, Ty t) {
    Val a = operand_as(l, in, 0, t), b = fp_source(l, in, 1, t);
    u32 n = ty_lanes(t);
    int lanes[4];
    for (u32 i = 0; i < n; i++)
        lanes[i] = (int)(half * n / 2 + i / 2 + i % 2 * n);
    set_operand(l, in, 0, ir_shuffle(l, a, b, lanes, n));
}

void fp_blend(Lifter *l, const Insn *in, Ty t) {
    Val a = operand_as(l, in, 0, t), b = fp_source(l, in, 1, t);
    u32 n = ty_lanes(t);
    int lanes[4];
    for (u32 i = 0; i < n; i++)
        lanes[i] = (int)(imm_value(in, 2) >> i & 1 ? n + i : i);
    set_operand(l, in, 0, ir_shuffle(l, a, b, lanes, n));
}

/* The sign of each lane of xmm0 chooses. */
void fp_blendv(Lifter *l, const Insn *in, Ty t) {
    Val a = operand_as(l, in, 0, t), b = fp_source(l, in, 1, t);
    Val chosen = ir_is_negative(l, reg_read(l, XMM0, ty_as_int(t)));
    set_operand(l, in, 0, ir_select(l, chosen, b, a));
}

/* ----------------------------------------------------------------------------------------------------- single lanes */

/* SDM 2A, INSERTPS: bits 7–6 choose the source lane (registers only), 5–4 the destination, 3–0 lanes to be cleared. */
void fp_insertps(Lifter *l, const Insn *in) {
    u32 order = (u32)imm_value(in, 2);
    Val a = operand_as(l, in, 0, PS);
    Val v = is_mem(in, 1) ? operand_as(l, in, 1, F32) : ir_extract(l, operand_as(l, in, 1, PS), order >> 6 & 3);
    Val r = ir_insert(l, a, v, order >> 4 & 3);
    int lanes[4];
    for (int i = 0; i < 4; i++)
        lanes[i] = order >> i & 1 ? 4 + i : i;
    set_operand(l, in, 0, ir_shuffle(l, r, ir_zero(l, PS), lanes, 4));
}

void fp_extractps(Lifter *l, const Insn *in) {
    Val v = operand_as(l, in, 1, VECTOR(I32, 4));
    set_operand(l, in, 0, ir_extract(l, v, (u32)imm_value(in, 2) & 3));
}
