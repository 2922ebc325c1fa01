/* simd_memory.c: loads and stores of structures: lists of registers whose elements alternate in memory, or follow each other. */
#include "isa/aarch64/families_simd.h"
#include "isa/aarch64/simd/simd.h"

enum { LIST = 4 };

static Reg list_reg(const Insn *in, u32 i) {
    return (Reg)(A64_V0 + (in->op[0].no + i) % 32);
}

static u32 list_count(const Insn *in) {
    return (u32)in->op[0].disp;
}

static Ty list_ty(const Insn *in) {
    return ty_vector(ty_int(in->op[0].scale), in->op[0].bits);
}

/* All of them in one vector; three are filled up to four. */
static Val joined(Lifter *l, const Val *v, u32 count) {
    if (count == 1)
        return v[0];
    Val low = a64v_join(l, v[0], v[1]);
    return count == 2 ? low : a64v_join(l, low, a64v_join(l, v[2], v[count - 1]));
}

/* ------------------------------------------------------------------------------------------------------------- several */

/* Element k of structure s is lane s * count + k of what is in memory. */
static Val of_structures(Lifter *l, Val all, u32 k, u32 count, u32 n) {
    int lanes[16];
    for (u32 s = 0; s < n; s++)
        lanes[s] = (int)(s * count + k);
    return ir_shuffle(l, all, all, lanes, n);
}

/* Lanes of register `part` of memory, of all registers. */
static Val to_structures(Lifter *l, Val all, u32 part, u32 count, u32 n) {
    int lanes[16];
    for (u32 i = 0; i < n; i++) {
        u32 at = part * n + i;
        lanes[i] = (int)(at % count * n + at / count);
    }
    return ir_shuffle(l, all, all, lanes, n);
}

void a64_simd_load(Lifter *l, const Insn *in, bool interleaved) {
    u32 count = list_count(in), bytes = in->op[0].bits / 8;
    Ty t = list_ty(in);
    Val at = a64_address(l, in, 1), v[LIST] = {NULL};
    for (u32 i = 0; i < count; i++)
        v[i] = guest_load(l, in, t, ir_offset(l, at, i * bytes), 1);
    Val all = interleaved ? joined(l, v, count) : NULL;
    for (u32 i = 0; i < count; i++)
        reg_write(l, list_reg(in, i), interleaved ? of_structures(l, all, i, count, ty_lanes(t)) : v[i]);
    a64_write_back(l, in, 1);
}

void a64_simd_store(Lifter *l, const Insn *in, bool interleaved) {
    u32 count = list_count(in), bytes = in->op[0].bits / 8;
    Ty t = list_ty(in);
    Val at = a64_address(l, in, 1), v[LIST] = {NULL};
    for (u32 i = 0; i < count; i++)
        v[i] = reg_read(l, list_reg(in, i), t);
    Val all = interleaved ? joined(l, v, count) : NULL;
    for (u32 i = 0; i < count; i++) {
        Val part = interleaved ? to_structures(l, all, i, count, ty_lanes(t)) : v[i];
        guest_store(l, in, part, ir_offset(l, at, i * bytes), 1);
    }
    a64_write_back(l, in, 1);
}

/* ------------------------------------------------------------------------------------------------------------ one lane */

static Val load_element(Lifter *l, const Insn *in, Val at, u32 i) {
    return guest_load(l, in, ty_int(in->op[0].scale), ir_offset(l, at, i * in->op[0].scale / 8), 1);
}

void a64_simd_load_lane(Lifter *l, const Insn *in) {
    Ty all = ty_vector(ty_int(in->op[0].scale), 128);
    Val at = a64_address(l, in, 1), v[LIST] = {NULL};
    for (u32 i = 0; i < list_count(in); i++)
        v[i] = load_element(l, in, at, i);
    for (u32 i = 0; i < list_count(in); i++)
        reg_write(l, list_reg(in, i), ir_insert(l, reg_read(l, list_reg(in, i), all), v[i], in->op[0].addr_bits));
    a64_write_back(l, in, 1);
}

void a64_simd_store_lane(Lifter *l, const Insn *in) {
    Ty all = ty_vector(ty_int(in->op[0].scale), 128);
    Val at = a64_address(l, in, 1);
    for (u32 i = 0; i < list_count(in); i++)
        guest_store(l, in, ir_extract(l, reg_read(l, list_reg(in, i), all), in->op[0].addr_bits),
                    ir_offset(l, at, i * in->op[0].scale / 8), 1);
    a64_write_back(l, in, 1);
}

void a64_simd_load_replicated(Lifter *l, const Insn *in) {
    Ty t = list_ty(in);
    Val at = a64_address(l, in, 1), v[LIST] = {NULL};
    for (u32 i = 0; i < list_count(in); i++)
        v[i] = load_element(l, in, at, i);
    for (u32 i = 0; i < list_count(in); i++)
        reg_write(l, list_reg(in, i), ir_splat(l, v[i], ty_lanes(t)));
    a64_write_back(l, in, 1);
}
