/* gs.c: instructions that use the guest's gs, in quick code, where the host's is the Thread. The prefix is taken away. What addresses
 * memory gets its address in two registers instead, which are spilled meanwhile: one has the address without the segment, the other
 * the guest's base. No flag is changed by that. String instructions, gathers and what compresses its displacement are not done. */
#include "run/client/quick/encode.h"

enum { LEA = 0x8d, POP = 0x8f, MASKMOV = 0xf7, XLAT = 0xd7, GSBASE = offsetof(LatheX86Cpu, gsbase) };
enum { RD_WR_BASE = 0xae, RDGSBASE = 1, WRGSBASE = 3 };

static bool is_legacy_prefix(u8 byte) {
    switch (byte) {
    case 0x26:
    case 0x2e:
    case 0x36:
    case 0x3e:
    case FS:
    case GS:
    case 0x66:
    case ADDRESS32:
    case 0xf0:
    case 0xf2:
    case 0xf3: return true;
    }
    return (byte & 0xf0) == REX;
}

/* The instruction without the prefixes that are equal to `prefix`; its length. */
static u32 without(u8 *text, const u8 *insn, u32 length, u8 prefix) {
    u32 n = 0, i = 0;
    for (; i < length && is_legacy_prefix(insn[i]); i++)
        if (insn[i] != prefix)
            text[n++] = insn[i];
    memcpy(text + n, insn + i, length - i);
    return n + length - i;
}

static bool has_prefix(const u8 *insn, u8 prefix) {
    for (; is_legacy_prefix(*insn); insn++)
        if (*insn == prefix)
            return true;
    return false;
}

/* -------------------------------------------------------------------------------------------------------------- operands */

/* VEX2, VEX3 or EVEX; POP for XOP; 0: another form. *at: where it begins. */
static u32 form_of(const u8 *insn, u32 *at) {
    for (*at = 0; is_legacy_prefix(insn[*at]);)
        ++*at;
    u8 first = insn[*at];
    if (first == POP)
        return (insn[*at + 1] & 0x1f) >= 8 ? POP : 0;
    return first == VEX2 || first == VEX3 || first == EVEX ? first : 0;
}

static bool is_0f(const u8 *insn, const Shape *s) {
    u32 at;
    return !form_of(insn, &at) && s->opcode_at && insn[s->opcode_at - 1] == 0x0f;
}

/* An operand in memory, as ModRM has it, that the instruction goes to. */
static bool goes_to_memory(const u8 *insn, const Shape *s) {
    u32 at;
    return s->modrm_at && insn[s->modrm_at] < 0xc0 && (s->opcode != LEA || form_of(insn, &at));
}

/* Memory that no ModRM tells of: moffs, movs, cmps, lods, xlat, maskmov. */
static bool has_hidden_memory(const u8 *insn, const Shape *s) {
    u32 op = s->opcode;
    if (s->modrm_at)
        return op == MASKMOV && insn[s->modrm_at] >= 0xc0 && (s->vector || is_0f(insn, s));
    return !is_0f(insn, s) && ((op >= 0xa0 && op <= 0xa7) || op == 0xac || op == 0xad || op == XLAT);
}

/* The address is more than what lea makes of the same bytes: an index in vectors, a displacement in units, rsp after a pop. */
static bool is_odd(const u8 *insn, const Shape *s) {
    const u8 *modrm = insn + s->modrm_at;
    u32 at, form = form_of(insn, &at);
    bool has_sib = (*modrm & 7) == RM_SP;
    switch (form) {
    case EVEX: return has_sib || (*modrm & 0xc0) == 0x40;
    case VEX2:
    case VEX3: return has_sib && ((s->opcode & 0xfc) == 0x90 || s->opcode == 0x4b); /* gathers, tile loads */
    case POP: return true;
    }
    return s->opcode == POP && has_sib && (modrm[1] & 7) == RM_SP;
}

/* Of an operand in memory: SIB and displacement. */
static u32 bytes_behind(const u8 *modrm) {
    u32 mod = *modrm >> 6, rm = *modrm & 7, sib = rm == RM_SP, base = sib ? modrm[1] & 7 : rm;
    return sib + (mod == 1 ? 1 : mod == 2 || base == RBP ? 4 : 0);
}

/* The bits that extend the registers of the operand, as REX has them. */
static u32 extension(const u8 *insn, const Shape *s) {
    u32 at, form = form_of(insn, &at);
    if (form == VEX3 || form == EVEX)
        return ~(u32)insn[at + 1] >> 5 & (REX_X | REX_B);
    return form ? 0 : s->rex & (REX_X | REX_B);
}

/* ---------------------------------------------------------------------------------------------------------------- code */

/* lea of the operand. */
static void put_lea(Emitter *e, const Shape *s, u32 reg) {
    const u8 *modrm = e->text + s->modrm_at;
    if (s->disp_at) {
        i32 disp;
        memcpy(&disp, e->text + s->disp_at, 4);
        u64 address = e->next + (u64)(i64)disp;
        put_constant(e, reg, s->address32 ? (u32)address : address);
        return;
    }
    if (s->address32)
        put8(e, ADDRESS32);
    put8(e, REX | REX_W | extension(e->text, s));
    put8(e, LEA);
    put8(e, (*modrm & 0xc7) | reg << 3);
    put(e, modrm + 1, bytes_behind(modrm));
}

/* [base + index] in place of the operand: the same instruction otherwise. */
static void put_with_registers(Emitter *e, const Shape *s, u32 base, u32 index) {
    u8 text[SHAPE_BYTES + 1];
    Shape plain;
    u32 at, length = without(text, e->text, s->length, ADDRESS32), form = form_of(text, &at);
    CHECK(shape_of(text, length, &plain), "an instruction without a prefix is one, too");
    if (form == VEX3 || form == EVEX)
        text[at + 1] |= 0x60;
    else if (!form && plain.rex)
        text[at - 1] &= (u8)~(REX_X | REX_B);
    const u8 *modrm = text + plain.modrm_at;
    put(e, text, plain.modrm_at);
    put8(e, (*modrm & 0x38) | RM_SP);
    put8(e, index << 3 | base);
    u32 behind = plain.modrm_at + 1u + bytes_behind(modrm);
    put(e, text + behind, plain.length - behind);
}

/* Two registers that the instruction does not use: rbx only if it names two others of these, which none with bh does. As a base, rbp
 * would have another meaning. */
static void free_registers(const u8 *insn, const Shape *s, u32 free[2]) {
    static const u8 candidates[] = {RSI, RDI, RBP, RBX};
    u32 reg = insn[s->modrm_at] >> 3 & 7, third = third_register(insn, s), n = 0;
    for (u32 i = 0; i < ARRAY_LEN(candidates) && n < 2; i++)
        if (candidates[i] != reg && candidates[i] != third)
            free[n++] = candidates[i];
    CHECK(n == 2, "an instruction names two registers beside its operand in memory");
    if (free[0] == RBP)
        free[0] = free[1], free[1] = RBP;
}

static void put_at_gs(Emitter *e, const Shape *s) {
    u32 reg[2];
    free_registers(e->text, s, reg);
    spill(e, reg[0], THREAD_SPILL_BASE);
    spill(e, reg[1], THREAD_SPILL_RDX);
    put_lea(e, s, reg[0]);
    unspill(e, reg[1], GSBASE);
    put_with_registers(e, s, reg[0], reg[1]);
    unspill(e, reg[1], THREAD_SPILL_RDX);
    unspill(e, reg[0], THREAD_SPILL_BASE);
}

/* rdgsbase, wrgsbase: the register's number may be extended. */
static bool put_base(Emitter *e, const Shape *s) {
    const u8 *modrm = e->text + s->modrm_at;
    u32 which = *modrm >> 3 & 7, wide = s->rex & REX_W, extended = s->rex & REX_B ? REX_R : 0;
    if (s->opcode != RD_WR_BASE || !is_0f(e->text, s) || *modrm < 0xc0 || (which != RDGSBASE && which != WRGSBASE))
        return false;
    const u8 text[] = {GS, (u8)(REX | wide | extended), which == RDGSBASE ? 0x8b : 0x89, (u8)(RM_SP | (*modrm & 7) << 3), 0x25};
    put(e, text, sizeof(text));
    put32(e, GSBASE);
    if (which == WRGSBASE && !wide) { /* movl $0: the upper half */
        put(e, "\x65\xc7\x04\x25", 4);
        put32(e, GSBASE + 4);
        put32(e, 0);
    }
    return true;
}

static void put_target_at_gs(Emitter *e, const Shape *s) {
    spill(e, RCX, THREAD_SPILL_RCX);
    spill(e, RSI, THREAD_SPILL_BASE);
    put_lea(e, s, RCX);
    unspill(e, RSI, GSBASE);
    put(e, "\x48\x8b\x0c\x31", 4); /* mov (%rcx,%rsi), %rcx */
    unspill(e, RSI, THREAD_SPILL_BASE);
}

EmitGs emit_gs(Emitter *e, const Shape *s, u8 text[SHAPE_BYTES], Shape *plain) {
    if (put_base(e, s))
        return EMIT_GS_DONE;
    if (!has_prefix(e->text, GS) || has_prefix(e->text, FS))
        return EMIT_GS_NOT;
    u32 length = without(text, e->text, s->length, GS);
    if (!shape_of(text, length, plain) || has_hidden_memory(text, plain))
        return EMIT_GS_NOT;
    e->text = text;
    if (!goes_to_memory(text, plain))
        return EMIT_GS_WITHOUT;
    if (plain->kind == SHAPE_JMP_INDIRECT || plain->kind == SHAPE_CALL_INDIRECT) {
        put_target_at_gs(e, plain);
        return EMIT_GS_TARGET;
    }
    if (plain->kind != SHAPE_PLAIN || is_odd(text, plain))
        return EMIT_GS_NOT;
    put_at_gs(e, plain);
    return EMIT_GS_DONE;
}
