/* encode.c: see encode.h. */
#include "binopt/x86_64/machine/encode.h"

enum { REX = 0x40, REX_W = 8, REX_R = 4, REX_X = 2, REX_B = 1 };

static u32 put32(u8 *to, i64 v) {
    i32 low = (i32)v;
    memcpy(to, &low, sizeof(low));
    return sizeof(low);
}

/* ---------------------------------------------------------------------------------------------------------- memory operands */

static bool is_prefix(u8 b) {
    return b == 0x66 || b == 0x67 || b == 0xf0 || b == 0xf2 || b == 0xf3 || b == 0x2e || b == 0x36 || b == 0x3e ||
           b == 0x26 || b == 0x64 || b == 0x65;
}

/* Writes everything before ModRM, with the two bits that extend base and index. */
static u32 put_head(const MachineInsn *in, bool x, bool b, u8 *to) {
    u32 n = 0, at = 0;
    const u8 *from = in->bytes;
    while (is_prefix(from[at]))
        to[n++] = from[at++];
    u8 first = from[at];
    u8 inverted = (u8)((x ? 0 : 0x40) | (b ? 0 : 0x20));
    bool vex = in->new_vector || first == 0xc4 || first == 0xc5 ||
               first == 0x62;               /* in 64-bit mode these bytes are always VEX or EVEX prefixes */
    if (vex && first == 0xc5 && (x || b)) { /* SDM 2A 2.3.5: only the three-byte form has X and B */
        u8 second = from[at + 1];
        to[n++] = 0xc4;
        to[n++] = (u8)((second & 0x80) | inverted | 1);
        to[n++] = second & 0x7f;
        at += 2;
    } else if (vex && (first == 0xc4 || first == 0x62)) {
        to[n++] = first;
        to[n++] = (u8)((from[at + 1] & 0x9f) | inverted);
        at += 2;
    } else if (!vex) {
        u8 rex = (first & 0xf0) == REX ? from[at++] : 0, wanted = (u8)((x ? REX_X : 0) | (b ? REX_B : 0));
        if (rex || wanted)
            to[n++] = (u8)(REX | (rex & ~(REX_X | REX_B)) | wanted);
    }
    while (at < in->modrm_off)
        to[n++] = from[at++];
    return n;
}

static u8 scale_bits(u8 scale) {
    return scale == 8 ? 3 : scale == 4 ? 2 : scale == 2 ? 1 : 0;
}

/* SDM 2A, tables 2-2 and 2-3. EVEX scales a displacement of 8 bits, so it is not used there. */
static u32 put_operand(u8 reg_field, const Mem *m, bool wide, u8 *to) {
    u32 n = 0;
    bool sib = m->index != NO_REG || m->base == NO_REG || (m->base & 7) == 4;
    bool small = !wide && m->disp == (i8)m->disp;
    u8 mod = m->base == NO_REG ? 0 : m->disp == 0 && (m->base & 7) != 5 ? 0 : small ? 1 : 2;
    to[n++] = (u8)(mod << 6 | reg_field | (sib ? 4 : m->base & 7));
    if (sib)
        to[n++] = (u8)(scale_bits(m->scale) << 6 | (m->index == NO_REG ? 4 : m->index & 7) << 3 |
                       (m->base == NO_REG ? 5 : m->base & 7));
    if (mod == 1)
        to[n++] = (u8)m->disp;
    else if (mod == 2 || m->base == NO_REG)
        n += put32(to + n, m->disp);
    return n;
}

u32 encode_with_memory(const MachineInsn *in, const Mem *mem, u64 at, u8 *to) {
    CHECK(in->modrm_off, "only operands of ModRM are replaced");
    u8 reg_field = in->bytes[in->modrm_off] & 0x38;
    bool relative = mem->base == PC_REG;
    bool x = !relative && mem->index != NO_REG && mem->index & 8, b = !relative && mem->base != NO_REG && mem->base & 8;
    u32 n = put_head(in, x, b, to), tail = in->length - in->tail_off;
    if (relative) {
        to[n++] = reg_field | 5;
        n += put32(to + n, (i64)((u64)mem->disp - (at + n + 4 + tail)));
    } else {
        n += put_operand(reg_field, mem, in->bytes[0] == 0x62, to + n);
    }
    memcpy(to + n, in->bytes + in->tail_off, tail);
    return n + tail;
}

u32 encode_with_address(const MachineInsn *in, u64 address, u64 at, u8 *to) {
    Mem mem = {.base = PC_REG, .index = NO_REG, .disp = (i64)address};
    return encode_with_memory(in, &mem, at, to);
}

u32 encode_with_vector(const MachineInsn *in, u8 vec, u8 *to) {
    u32 n = put_head(in, false, vec & 8, to), tail = in->length - in->tail_off;
    to[n++] = (u8)(0xc0 | (in->bytes[in->modrm_off] & 0x38) | (vec & 7));
    memcpy(to + n, in->bytes + in->tail_off, tail);
    return n + tail;
}

/* ---------------------------------------------------------------------------------------------------------------- numbers */

static i64 extended(u64 v, u32 bits) {
    return (i64)(v << (64 - bits)) >> (64 - bits);
}

/* The /digit of opcode 81, or -1. */
static int group1(const MachineInsn *in) {
    switch (in->mnemonic) {
    case ZYDIS_MNEMONIC_ADD:
        return 0;
    case ZYDIS_MNEMONIC_OR:
        return 1;
    case ZYDIS_MNEMONIC_ADC:
        return 2;
    case ZYDIS_MNEMONIC_SBB:
        return 3;
    case ZYDIS_MNEMONIC_AND:
        return 4;
    case ZYDIS_MNEMONIC_SUB:
        return 5;
    case ZYDIS_MNEMONIC_XOR:
        return 6;
    case ZYDIS_MNEMONIC_CMP:
        return 7;
    default:
        return -1;
    }
}

static bool is_shift(const MachineInsn *in) {
    return in->mnemonic == ZYDIS_MNEMONIC_SHL || in->mnemonic == ZYDIS_MNEMONIC_SHR ||
           in->mnemonic == ZYDIS_MNEMONIC_SAR || in->mnemonic == ZYDIS_MNEMONIC_ROL ||
           in->mnemonic == ZYDIS_MNEMONIC_ROR;
}

/* Only for 32 and 64 bits; little is gained for bytes and words. */
bool encode_takes_number(const MachineInsn *in, u32 op, u64 value) {
    const MachineOp *to = &in->op[0], *from = &in->op[op];
    if (op != 1 || in->op_count != 2 || from->kind != OP_GP || from->high || from->write)
        return false;
    if (is_shift(in)) /* the operand is the count, in cl */
        return to->kind == OP_GP && to->bits >= 32 && (value & (to->bits - 1)) != 0;
    if (to->bits < 32 || to->bits != from->bits || (to->kind != OP_GP && to->kind != OP_MEM))
        return false;
    if (!encode_fits32(extended(value, from->bits)))
        return false;
    if (in->mnemonic == ZYDIS_MNEMONIC_IMUL)
        return to->kind == OP_GP;
    return group1(in) >= 0 || in->mnemonic == ZYDIS_MNEMONIC_TEST ||
           (in->mnemonic == ZYDIS_MNEMONIC_MOV && to->kind == OP_MEM);
}

/* Writes REX, opcode and ModRM for a register or memory operand. */
static u32 put_rm(const MachineOp *op, const Mem *mem, u8 opcode, u8 reg_field, u32 imm_bytes, u64 at, u8 *to) {
    u32 n = 0;
    u8 rex = (u8)((op->bits == 64 ? REX_W : 0) | (reg_field & 8 ? REX_R : 0));
    if (op->kind == OP_GP) {
        rex |= op->no & 8 ? REX_B : 0;
        if (rex)
            to[n++] = REX | rex;
        to[n++] = opcode;
        to[n++] = (u8)(0xc0 | (reg_field & 7) << 3 | (op->no & 7));
        return n;
    }
    bool relative = mem->base == PC_REG;
    if (!relative)
        rex |= (u8)((mem->index != NO_REG && mem->index & 8 ? REX_X : 0) |
                    (mem->base != NO_REG && mem->base & 8 ? REX_B : 0));
    if (rex)
        to[n++] = REX | rex;
    to[n++] = opcode;
    if (!relative)
        return n + put_operand((u8)((reg_field & 7) << 3), mem, false, to + n);
    to[n++] = (u8)((reg_field & 7) << 3 | 5);
    return n + put32(to + n, (i64)((u64)mem->disp - (at + n + 4 + imm_bytes)));
}

u32 encode_with_number(const MachineInsn *in, u32 op, u64 value, const Mem *mem, u64 at, u8 *to) {
    const MachineOp *dest = &in->op[0];
    i64 v = extended(value, in->op[op].bits);
    u32 n;
    if (is_shift(in)) { /* C1 /digit ib; the digit is that of D3 */
        n = put_rm(dest, mem, 0xc1, in->bytes[in->modrm_off] >> 3 & 7, 1, at, to);
        to[n++] = (u8)(value & (dest->bits - 1));
        return n;
    }
    if (in->mnemonic == ZYDIS_MNEMONIC_IMUL) /* 69 /r: reg = rm * imm */
        n = put_rm(dest, NULL, 0x69, dest->no, 4, at, to);
    else if (in->mnemonic == ZYDIS_MNEMONIC_TEST)
        n = put_rm(dest, mem, 0xf7, 0, 4, at, to);
    else if (in->mnemonic == ZYDIS_MNEMONIC_MOV)
        n = put_rm(dest, mem, 0xc7, 0, 4, at, to);
    else if (v == (i8)v) {
        n = put_rm(dest, mem, 0x83, (u8)group1(in), 1, at, to);
        to[n++] = (u8)v;
        return n;
    } else {
        n = put_rm(dest, mem, 0x81, (u8)group1(in), 4, at, to);
    }
    return n + put32(to + n, v);
}

/* ------------------------------------------------------------------------------------------------------------- new ones */

u32 encode_move_number(u8 reg, u64 value, u8 *to) {
    u32 n = 0;
    bool wide = value != (u32)value;
    u8 rex = (u8)((wide ? REX_W : 0) | (reg & 8 ? REX_B : 0));
    if (rex)
        to[n++] = REX | rex;
    if (wide && encode_fits32((i64)value)) {
        to[n++] = 0xc7;
        to[n++] = 0xc0 | (reg & 7);
        return n + put32(to + n, (i64)value);
    }
    to[n++] = 0xb8 | (reg & 7);
    memcpy(to + n, &value, wide ? 8 : 4);
    return n + (wide ? 8 : 4);
}

u32 encode_lea(u8 reg, u8 base, i32 disp, u32 bits, u8 *to) {
    MachineOp op = {.kind = OP_MEM, .bits = (u16)bits};
    Mem mem = {.base = base, .index = NO_REG, .scale = 1, .disp = disp};
    return put_rm(&op, &mem, 0x8d, reg, 0, 0, to);
}

u32 encode_store_number(u8 base, i32 disp, u32 value, u8 *to) {
    MachineOp op = {.kind = OP_MEM, .bits = 32};
    Mem mem = {.base = base, .index = NO_REG, .scale = 1, .disp = disp};
    u32 n = put_rm(&op, &mem, 0xc7, 0, 4, 0, to);
    return n + put32(to + n, (i32)value);
}

u32 encode_multiply(u8 reg, u8 from, i32 by, u32 bits, u8 *to) {
    MachineOp op = {.kind = OP_GP, .bits = (u16)bits, .no = from};
    u32 n;
    if (by == (i8)by) {
        n = put_rm(&op, NULL, 0x6b, reg, 1, 0, to);
        to[n++] = (u8)by;
        return n;
    }
    n = put_rm(&op, NULL, 0x69, reg, 4, 0, to);
    return n + put32(to + n, by);
}

u32 encode_add(u8 reg, u8 from, u8 *to) {
    MachineOp op = {.kind = OP_GP, .bits = 64, .no = reg};
    return put_rm(&op, NULL, 0x01, from, 0, 0, to);
}

u32 encode_lea_sum(u8 reg, u8 a, u8 b, u8 *to) {
    MachineOp op = {.kind = OP_MEM, .bits = 64};
    Mem mem = {.base = a, .index = b, .scale = 1};
    return put_rm(&op, &mem, 0x8d, reg, 0, 0, to);
}

/* MOVSXD */
u32 encode_extend(u8 reg, u8 from, u8 *to) {
    MachineOp op = {.kind = OP_GP, .bits = 64, .no = from};
    return put_rm(&op, NULL, 0x63, reg, 0, 0, to);
}

/* (V)MOVAPS xmm, m128 or (V)XORPS xmm, xmm. */
static u32 put_vector(u8 vec, u8 opcode, bool newer, u8 *to) {
    u32 n = 0;
    u8 vvvv = opcode == 0x57 ? (u8)(~vec & 15) : 15;
    if (newer) { /* C4 RXB.00001 W.vvvv.0.00 */
        to[n++] = 0xc4;
        to[n++] = (u8)((vec & 8 ? 0 : 0x80) | 0x40 | (opcode == 0x57 && vec & 8 ? 0 : 0x20) | 1);
        to[n++] = (u8)(vvvv << 3);
    } else {
        if (vec & 8)
            to[n++] = (u8)(REX | REX_R | (opcode == 0x57 ? REX_B : 0));
        to[n++] = 0x0f;
    }
    to[n++] = opcode;
    return n;
}

u32 encode_load_vector(u8 vec, u64 address, bool newer, u64 at, u8 *to) {
    u32 n = put_vector(vec, 0x28, newer, to);
    to[n++] = (u8)((vec & 7) << 3 | 5);
    return n + put32(to + n, (i64)(address - (at + n + 4)));
}

u32 encode_move_vector(u8 vec, u8 from, u8 *to) {
    u32 n = 0;
    u8 rex = (u8)((vec & 8 ? REX_R : 0) | (from & 8 ? REX_B : 0));
    if (rex)
        to[n++] = REX | rex;
    to[n++] = 0x0f;
    to[n++] = 0x28;
    to[n++] = (u8)(0xc0 | (vec & 7) << 3 | (from & 7));
    return n;
}

u32 encode_zero_vector(u8 vec, bool newer, u8 *to) {
    u32 n = put_vector(vec, 0x57, newer, to);
    to[n++] = (u8)(0xc0 | (vec & 7) << 3 | (vec & 7));
    return n;
}

u32 encode_jump(u64 target, u64 at, u8 *to) {
    to[0] = 0xe9;
    return 1 + put32(to + 1, (i64)(target - (at + 5)));
}

u32 encode_call(u64 target, u64 at, u8 *to) {
    to[0] = 0xe8;
    return 1 + put32(to + 1, (i64)(target - (at + 5)));
}

u32 encode_branch(u8 cond, u64 target, u64 at, u8 *to) {
    i64 near = (i64)(target - (at + 2));
    if (near == (i8)near) {
        to[0] = 0x70 | cond;
        to[1] = (u8)near;
        return 2;
    }
    to[0] = 0x0f;
    to[1] = 0x80 | cond;
    return 2 + put32(to + 2, (i64)(target - (at + 6)));
}
