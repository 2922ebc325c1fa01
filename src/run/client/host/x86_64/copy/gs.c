/* gs.c: copies instructions that use the guest's gs. The host's gs points to the Thread, so the prefix is taken away, and an operand in memory is
 * addressed by two registers, which are spilled meanwhile: one has the address without the segment, the other the guest's base of gs. No flag is
 * changed by that.
 *
 * An instruction that computes further addresses itself (an index of vectors, a string instruction) gets the guest's base added to the register that
 * it begins with. If it cuts its address to 32 bits before the segment is added, only the processor itself can do it: then the guest's base is that
 * of fs meanwhile. */
#include <linux/auxvec.h>

#include "run/client/host/x86_64/copy/encode.h"

enum {
    LEA = 0x8d,
    POP = 0x8f,
    XOP = XOP_FIRST,
    MASKMOV = 0xf7,
    XLAT = 0xd7,
    CLZERO = 0xfc,
    GSBASE = offsetof(LatheX86Cpu, gsbase)
};
enum { RD_WR_BASE = 0xae, RDGSBASE = 1, WRGSBASE = 3, OPERAND16 = 0x66, MAP_0F38 = 2 };

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
    case 0xf3:
        return true;
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

/* The last of these two prefixes is the one that counts; 0: there is none. */
static u8 segment_of(const u8 *insn) {
    u8 segment = 0;
    for (; is_legacy_prefix(*insn); insn++)
        if (*insn == FS || *insn == GS)
            segment = *insn;
    return segment;
}

static bool has_prefix(const u8 *insn, u8 prefix) {
    for (; is_legacy_prefix(*insn); insn++)
        if (*insn == prefix)
            return true;
    return false;
}

/* -------------------------------------------------------------------------------------------------------------- operands */

/* VEX2, VEX3, EVEX or XOP; 0: another form. *at: where it begins. */
static u32 form_of(const u8 *insn, u32 *at) {
    for (*at = 0; is_legacy_prefix(insn[*at]);)
        ++*at;
    u8 first = insn[*at];
    if (first == POP)
        return (insn[*at + 1] & 0x1f) >= 8 ? XOP : 0;
    return first == VEX2 || first == VEX3 || first == EVEX ? first : 0;
}

static bool is_0f(const u8 *insn, const Shape *s) {
    u32 at;
    return !form_of(insn, &at) && s->opcode_at && insn[s->opcode_at - 1] == 0x0f;
}

/* True if the instruction accesses an operand in memory that ModRM names; lea only computes its address. */
static bool goes_to_memory(const u8 *insn, const Shape *s) {
    u32 at;
    return s->modrm_at && insn[s->modrm_at] < 0xc0 && (s->opcode != LEA || form_of(insn, &at));
}

/* Memory that an instruction accesses without naming it in ModRM. */
typedef enum Hidden { HIDDEN_NONE, HIDDEN_OFFSET, HIDDEN_STRING, HIDDEN_XLAT, HIDDEN_RDI, HIDDEN_RAX } Hidden;

static Hidden hidden_memory(const u8 *insn, const Shape *s) {
    u32 op = s->opcode;
    if (s->modrm_at && insn[s->modrm_at] < 0xc0)
        return HIDDEN_NONE;
    if (s->modrm_at && op == MASKMOV && (s->vector || is_0f(insn, s)))
        return HIDDEN_RDI;
    if (s->modrm_at)
        return op == 1 && is_0f(insn, s) && insn[s->modrm_at] == CLZERO ? HIDDEN_RAX : HIDDEN_NONE;
    if (is_0f(insn, s))
        return HIDDEN_NONE;
    return op >= 0xa0 && op <= 0xa3                                 ? HIDDEN_OFFSET
           : (op >= 0xa4 && op <= 0xa7) || op == 0xac || op == 0xad ? HIDDEN_STRING
           : op == XLAT                                             ? HIDDEN_XLAT
                                                                    : HIDDEN_NONE;
}

/* The index is a vector register, or a stride. */
static bool has_other_index(const u8 *insn, const Shape *s) {
    u32 at, form = form_of(insn, &at), op = s->opcode,
            map = form == EVEX   ? insn[at + 1] & 7
                  : form == VEX3 ? insn[at + 1] & 0x1f
                                 : 0;
    if (map != MAP_0F38 || (insn[s->modrm_at] & 7) != RM_SP)
        return false;
    bool gathers = (op & 0xfc) == 0x90, scatters = (op & 0xfc) == 0xa0 || op == 0xc6 || op == 0xc7;
    return gathers || (form == EVEX ? scatters : op == 0x4a || op == 0x4b);
}

/* A displacement in units of the operand's size. */
static bool has_unit_displacement(const u8 *insn, const Shape *s) {
    u32 at;
    return form_of(insn, &at) == EVEX && (insn[s->modrm_at] & 0xc0) == 0x40;
}

/* pop addresses its operand when rsp has changed already. */
static bool pops_by_stack(const u8 *insn, const Shape *s) {
    u32 at;
    const u8 *modrm = insn + s->modrm_at;
    return s->opcode == POP && !form_of(insn, &at) && (*modrm & 7) == RM_SP && (modrm[1] & 7) == RM_SP &&
           !(s->rex & REX_B);
}

/* How many bytes of an operand in memory follow ModRM: SIB and displacement. */
static u32 bytes_behind(const u8 *modrm) {
    u32 mod = *modrm >> 6, rm = *modrm & 7, sib = rm == RM_SP, base = sib ? modrm[1] & 7 : rm;
    return sib + (mod == 1 ? 1 : mod == 2 || base == RBP ? 4 : 0);
}

/* The bits that extend the registers of the operand, as REX has them. */
static u32 extension(const u8 *insn, const Shape *s) {
    u32 at, form = form_of(insn, &at);
    if (form == VEX3 || form == EVEX || form == XOP)
        return ~(u32)insn[at + 1] >> 5 & (REX_X | REX_B);
    return form ? 0 : s->rex & (REX_X | REX_B);
}

/* ---------------------------------------------------------------------------------------------------------------- code */

/* lea of the operand; of one with a displacement in units, without that. */
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
    if (has_unit_displacement(e->text, s)) {
        put(e, modrm + 1, bytes_behind(modrm) - 1);
        put8(e, 0);
    } else
        put(e, modrm + 1, bytes_behind(modrm));
}

/* lea n(reg), reg */
static void put_add(Emitter *e, const Shape *s, u32 reg, u32 n) {
    const u8 text[] = {REX | REX_W, LEA, (u8)(0x40 | reg << 3 | reg), (u8)n};
    if (s->address32)
        put8(e, ADDRESS32);
    put(e, text, sizeof(text));
}

/* Takes away what extends the registers of the operand: the bits of `which`. */
static void clear_extension(u8 *text, const Shape *s, u32 which) {
    u32 at, form = form_of(text, &at);
    if (form == VEX3 || form == EVEX || form == XOP)
        text[at + 1] |= (u8)(which << 5);
    else if (!form && s->rex)
        text[at - 1] &= (u8)~which;
}

/* The same instruction with [base + index] in place of the operand; a displacement in units stays. */
static void put_with_registers(Emitter *e, const Shape *s, u32 base, u32 index) {
    u8 text[SHAPE_BYTES + 1];
    Shape plain;
    u32 length = without(text, e->text, s->length, ADDRESS32);
    CHECK(shape_of(text, length, &plain), "an instruction without a prefix is one, too");
    clear_extension(text, &plain, REX_X | REX_B);
    const u8 *modrm = text + plain.modrm_at;
    u32 kept = has_unit_displacement(text, &plain), behind = plain.modrm_at + 1u + bytes_behind(modrm);
    put(e, text, plain.modrm_at);
    put8(e, (*modrm & 0x38) | RM_SP | (kept ? 0x40 : 0));
    put8(e, index << 3 | base);
    put(e, text + behind - kept, plain.length - behind + kept);
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

/* Two registers are spilled, and the guest's base is in the second. */
static void begin_pair(Emitter *e, const u32 reg[2]) {
    spill(e, reg[0], THREAD_SPILL_BASE);
    spill(e, reg[1], THREAD_SPILL_RDX);
    unspill(e, reg[1], GSBASE);
}

static void end_pair(Emitter *e, const u32 reg[2]) {
    unspill(e, reg[1], THREAD_SPILL_RDX);
    unspill(e, reg[0], THREAD_SPILL_BASE);
}

static void put_at_gs(Emitter *e, const Shape *s) {
    u32 reg[2];
    free_registers(e->text, s, reg);
    spill(e, reg[0], THREAD_SPILL_BASE);
    spill(e, reg[1], THREAD_SPILL_RDX);
    put_lea(e, s, reg[0]);
    if (pops_by_stack(e->text, s))
        put_add(e, s, reg[0], has_prefix(e->text, OPERAND16) ? 2 : 8);
    unspill(e, reg[1], GSBASE);
    put_with_registers(e, s, reg[0], reg[1]);
    end_pair(e, reg);
}

/* For an instruction with an index that lea does not know (vectors, strides): replaces its base register by one to which the guest's base was added. */
static void put_at_based(Emitter *e, const Shape *s) {
    static const u8 candidates[] = {RSI, RDI, RBX};
    u8 text[SHAPE_BYTES];
    memcpy(text, e->text, s->length);
    u8 *modrm = text + s->modrm_at, *sib = modrm + 1;
    u32 extended = extension(text, s), base = *sib & 7, index = *sib >> 3 & 7, n = 0;
    bool no_base = base == RBP && *modrm < 0x40;
    while (candidates[n] == base || candidates[n] == index)
        n++;
    u32 reg = candidates[n];
    spill(e, reg, THREAD_SPILL_BASE);
    unspill(e, reg, GSBASE);
    if (!no_base) { /* lea 0(base, reg), reg */
        const u8 lea[] = {(u8)(REX | REX_W | (extended & REX_B)), LEA, (u8)(0x40 | reg << 3 | RM_SP),
                          (u8)(reg << 3 | base), 0};
        put(e, lea, sizeof(lea));
    }
    clear_extension(text, s, REX_B);
    *modrm |= no_base ? 0x80 : 0;
    *sib = (u8)((*sib & 0xf8) | reg);
    put(e, text, s->length);
    unspill(e, reg, THREAD_SPILL_BASE);
}

/* For an instruction whose address is in one register that it does not name: rdi of maskmov, rax of clzero. */
static void put_at_register(Emitter *e, const Shape *s, u32 at) {
    u8 text[SHAPE_BYTES];
    const u32 reg[2] = {at, RSI};
    u32 length = without(text, e->text, s->length, ADDRESS32);
    begin_pair(e, reg);
    if (s->address32)
        put_add(e, s, at, 0);
    const u8 lea[] = {REX | REX_W, LEA, (u8)(at << 3 | RM_SP), (u8)(RSI << 3 | at)};
    put(e, lea, sizeof(lea));
    put(e, text, length);
    end_pair(e, reg);
}

/* mov of al, ax, eax or rax and a 64-bit address: with a ModRM operand instead. */
static void put_at_offset(Emitter *e, const Shape *s) {
    const u32 reg[2] = {RSI, RDI};
    u64 address = 0;
    memcpy(&address, e->text + s->opcode_at + 1, s->address32 ? 4 : 8);
    begin_pair(e, reg);
    put_constant(e, RSI, address);
    for (u32 i = 0; i < s->opcode_at; i++)
        if (e->text[i] != ADDRESS32)
            put8(e, (e->text[i] & 0xf0) == REX ? REX | (e->text[i] & REX_W) : e->text[i]);
    const u8 mov[] = {(u8)((s->opcode & 1) | (s->opcode & 2 ? 0x88 : 0x8a)), RM_SP, RDI << 3 | RSI};
    put(e, mov, sizeof(mov));
    end_pair(e, reg);
}

/* movzbl %al, %esi; lea (%rbx,%rsi), %rsi; mov (%rsi,%rdi), %al */
static void put_xlat(Emitter *e, const Shape *s) {
    const u32 reg[2] = {RSI, RDI};
    begin_pair(e, reg);
    put(e, "\x0f\xb6\xf0", 3);
    if (s->address32)
        put8(e, ADDRESS32);
    put(e, "\x48\x8d\x34\x33\x8a\x04\x3e", 7);
    end_pair(e, reg);
}

/* rsi has the guest's base added, and then subtracted again, while the instruction runs, which changes it: copy.c knows this place by its bytes. */
static void put_string(Emitter *e, const Shape *s) {
    spill(e, RBP, THREAD_SPILL_RDX);
    unspill(e, RBP, GSBASE);
    put(e, GS_STRING_LEA, sizeof(GS_STRING_LEA) - 1);
    put(e, e->text, s->length);
    put(e, "\x48\xf7\xd5\x48\x8d\x74\x2e\x01", 8); /* not %rbp; lea 1(%rsi,%rbp), %rsi */
    unspill(e, RBP, THREAD_SPILL_RDX);
}

bool gs_has_instructions(void) {
    enum { HWCAP2_FSGSBASE = 2 };
    const u64 *a = the.auxv;
    while (a && a[0] != AT_NULL && a[0] != AT_HWCAP2)
        a += 2;
    return a && a[0] == AT_HWCAP2 && (a[1] & HWCAP2_FSGSBASE);
}

/* The guest's gs is fs while the instruction runs: copy.c knows this place by its bytes. */
static void put_at_fs(Emitter *e, const Shape *s) {
    spill(e, RBP, THREAD_SPILL_RDX);
    put(e, READ_FS_BASE, sizeof(READ_FS_BASE) - 1);
    spill(e, RBP, THREAD_SPILL_RAX);
    unspill(e, RBP, GSBASE);
    put(e, WRITE_FS_BASE, sizeof(WRITE_FS_BASE) - 1);
    unspill(e, RBP, THREAD_SPILL_RDX);
    put8(e, FS);
    put(e, e->text, s->length);
    spill(e, RBP, THREAD_SPILL_RDX);
    unspill(e, RBP, THREAD_SPILL_RAX);
    put(e, WRITE_FS_BASE, sizeof(WRITE_FS_BASE) - 1);
    unspill(e, RBP, THREAD_SPILL_RDX);
}

/* rdgsbase, wrgsbase: the register's number may be extended. */
static bool put_base(Emitter *e, const Shape *s) {
    const u8 *modrm = e->text + s->modrm_at;
    u32 which = *modrm >> 3 & 7, wide = s->rex & REX_W, extended = s->rex & REX_B ? REX_R : 0;
    if (s->opcode != RD_WR_BASE || !is_0f(e->text, s) || *modrm < 0xc0 || (which != RDGSBASE && which != WRGSBASE))
        return false;
    const u8 text[] = {GS, (u8)(REX | wide | extended), which == RDGSBASE ? 0x8b : 0x89,
                       (u8)(RM_SP | (*modrm & 7) << 3), 0x25};
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

/* With 32-bit addresses, what is added to a register comes before they are cut off, and the guest's base behind that: by fs where the instruction
 * itself does the one or the other. */
static bool needs_fs(const u8 *insn, const Shape *s, Hidden hidden) {
    bool adds = hidden == HIDDEN_STRING || (!hidden && (has_other_index(insn, s) || has_unit_displacement(insn, s)));
    return s->address32 && adds;
}

static bool put_odd(Emitter *e, const Shape *s, Hidden hidden) {
    if (needs_fs(e->text, s, hidden)) {
        if (!gs_has_instructions())
            return false;
        put_at_fs(e, s);
        return true;
    }
    switch (hidden) {
    case HIDDEN_OFFSET:
        put_at_offset(e, s);
        return true;
    case HIDDEN_XLAT:
        put_xlat(e, s);
        return true;
    case HIDDEN_RDI:
        put_at_register(e, s, RDI);
        return true;
    case HIDDEN_RAX:
        put_at_register(e, s, RAX);
        return true;
    case HIDDEN_STRING:
        put_string(e, s);
        return true;
    case HIDDEN_NONE:
        break;
    }
    if (has_other_index(e->text, s))
        put_at_based(e, s);
    else
        put_at_gs(e, s);
    return true;
}

EmitGs emit_gs(Emitter *e, const Shape *s, u8 text[SHAPE_BYTES], Shape *plain) {
    u8 both[SHAPE_BYTES];
    if (put_base(e, s))
        return EMIT_GS_DONE;
    u8 segment = segment_of(e->text);
    if (!has_prefix(e->text, GS))
        return EMIT_GS_NOT;
    u32 length = without(both, e->text, s->length, GS);
    length = without(text, both, length, segment == GS ? FS : GS);
    if (!shape_of(text, length, plain) || plain->kind == SHAPE_OTHER)
        return EMIT_GS_NOT;
    e->text = text;
    Hidden hidden = hidden_memory(text, plain);
    if (segment == FS || plain->kind == SHAPE_TRAP || (!hidden && !goes_to_memory(text, plain)))
        return EMIT_GS_WITHOUT;
    if (plain->kind == SHAPE_JMP_INDIRECT || plain->kind == SHAPE_CALL_INDIRECT) {
        put_target_at_gs(e, plain);
        return EMIT_GS_TARGET;
    }
    return put_odd(e, plain, hidden) ? EMIT_GS_DONE : EMIT_GS_NOT;
}
