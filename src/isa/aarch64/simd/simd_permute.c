/* simd_permute.c: AdvSIMD instructions that only move lanes: permutations, tables, copies, constants. */
#include "isa/aarch64/families_simd.h"
#include "isa/aarch64/forms.h"
#include "isa/aarch64/simd/simd.h"

/* The lane of op1 then op2 that lane i of the result is. */
static u32 source_lane(A64Permute kind, u32 part, u32 i, u32 n) {
    switch (kind) {
    case A64_ZIP:
        return part * n / 2 + i / 2 + (i & 1 ? n : 0);
    case A64_UZP:
        return 2 * i + part;
    case A64_TRN:
        return (i & ~1u) + part + (i & 1 ? n : 0);
    }
    CHECK(false, "a permutation that there is not");
}

void a64_simd_permute(Lifter *l, const Insn *in, A64Permute kind, u32 part) {
    int lanes[16];
    u32 n = a64v_lanes(in, 0);
    for (u32 i = 0; i < n; i++)
        lanes[i] = (int)source_lane(kind, part, i, n);
    a64v_set(l, in, 0, ir_shuffle(l, a64v_read(l, in, 1), a64v_read(l, in, 2), lanes, n));
}

void a64_simd_extract(Lifter *l, const Insn *in) {
    int lanes[16];
    u32 n = a64v_lanes(in, 0);
    for (u32 i = 0; i < n; i++)
        lanes[i] = (int)(i + a64_imm(in, 3));
    a64v_set(l, in, 0, ir_shuffle(l, a64v_read(l, in, 1), a64v_read(l, in, 2), lanes, n));
}

void a64_simd_reverse(Lifter *l, const Insn *in, u32 container_bits) {
    int lanes[16];
    u32 n = a64v_lanes(in, 0), each = container_bits / a64v_bits(in, 0);
    for (u32 i = 0; i < n; i++)
        lanes[i] = (int)(i ^ (each - 1));
    Val v = a64v_read(l, in, 1);
    a64v_set(l, in, 0, ir_shuffle(l, v, v, lanes, n));
}

/* -------------------------------------------------------------------------------------------------------------- tables */

#define BYTES VECTOR(I8, 16)
#define LONGS VECTOR(I64, 2)

static Reg table_reg(const Insn *in, u32 i) {
    return (Reg)(A64_V0 + (in->op[1].no + i) % 32);
}

static u32 table_regs(const Insn *in) {
    return (u32)in->op[1].disp;
}

/* Added to an index with saturation, 0x70 leaves the low bits of what is below 16, and sets the highest bit of all others. */
static Val looked_up(Lifter *l, const Insn *in, Val index) {
    Val r = ir_zero(l, BYTES);
    for (u32 i = 0; i < table_regs(in); i++) {
        Val at = ir_binary(l, "llvm.uadd.sat", ir_add_to(l, index, -16 * (i64)i), ir_int(l, BYTES, 0x70));
        r = ir_or(l, r, a64_forms(l)->look_up(l, reg_read(l, table_reg(in, i), BYTES), at));
    }
    return r;
}

/* Eight bytes by the C function. */
static Val half_by_function(Lifter *l, const Insn *in, Val index) {
    Val args[10] = {index, ir_int(l, I32, 16 * table_regs(in))};
    for (u32 i = 0; i < 4; i++) {
        Val v = reg_read(l, table_reg(in, i < table_regs(in) ? i : 0), LONGS);
        args[2 + 2 * i] = ir_extract(l, v, 0);
        args[3 + 2 * i] = ir_extract(l, v, 1);
    }
    return ir_helper(l, "lathe_aarch64_table", I64, args, 10);
}

static Val by_function(Lifter *l, const Insn *in, Val index) {
    Val v = ir_bitcast(l, index, LONGS);
    Val low = half_by_function(l, in, ir_extract(l, v, 0)), high = half_by_function(l, in, ir_extract(l, v, 1));
    return ir_bitcast(l, a64v_join(l, low, high), BYTES);
}

/* Bytes of up to four registers by index; where there is none: zero, or what was there. */
void a64_simd_table(Lifter *l, const Insn *in, bool keeps) {
    Val index = a64_v(l, in, 2, BYTES), r = a64_forms(l) ? looked_up(l, in, index) : by_function(l, in, index);
    if (keeps) {
        Val is_in = ir_icmp(l, ULT, index, ir_int(l, BYTES, 16 * table_regs(in)));
        r = ir_select(l, is_in, r, a64_v(l, in, 0, BYTES));
    }
    a64v_set(l, in, 0, in->op[0].bits == 64 ? a64v_half(l, r, false) : r);
}

/* -------------------------------------------------------------------------------------------------------------- copies */

static Val element(Lifter *l, const Insn *in, int i, Ty t) {
    if (in->op[i].cls == A64_CLS_X)
        return a64_int(l, in, i, t);
    return ir_extract(l, a64_v(l, in, i, ty_vector(t, 128)), (u32)in->op[i].disp);
}

void a64_simd_duplicate(Lifter *l, const Insn *in) {
    Ty t = ty_int(a64v_bits(in, 0));
    Val v = element(l, in, 1, t);
    a64v_set(l, in, 0, in->op[0].bits > ty_bits(t) ? ir_splat(l, v, a64v_lanes(in, 0)) : v);
}

void a64_simd_insert(Lifter *l, const Insn *in) {
    Ty t = ty_int(a64v_bits(in, 0));
    Val v = element(l, in, 1, t), all = a64_v(l, in, 0, ty_vector(t, 128));
    a64_set_v(l, in, 0, ir_insert(l, all, v, (u32)in->op[0].disp));
}

void a64_simd_to_general(Lifter *l, const Insn *in, bool is_signed) {
    Val v = element(l, in, 1, ty_int(a64v_bits(in, 1)));
    a64_set(l, in, 0, is_signed ? ir_sext(l, v, a64_ty(in, 0)) : ir_zext(l, v, a64_ty(in, 0)));
}

/* ----------------------------------------------------------------------------------------------------------- constants */

static Ty words_of(const Insn *in) {
    return in->op[0].bits == 128 ? VECTOR(I64, 2) : I64;
}

static Val constant(Lifter *l, const Insn *in) {
    Val v = immediate(l, in, A64_VECTOR_BITS, I64);
    return in->op[0].bits == 128 ? ir_splat(l, v, 2) : v;
}

void a64_simd_immediate(Lifter *l, const Insn *in) {
    a64_set_v(l, in, 0, constant(l, in));
}

void a64_simd_immediate_logic(Lifter *l, const Insn *in, Op op) {
    a64_set_v(l, in, 0, ir_op(l, op, a64_v(l, in, 0, words_of(in)), constant(l, in)));
}
