/* guest.c: the x86-64 guest's registers as text. */
#include "isa/x86_64/facts.h"
#include "oracle.h"
#include "state_text.h"

#define FLAG(name) FIELD_LIMITED(#name, name, 1, false)

// clang-format off
const Field guest_fields[] = {
    FIELD("pc", pc),
    FIELD("rax", gp[0]),  FIELD("rcx", gp[1]),  FIELD("rdx", gp[2]),  FIELD("rbx", gp[3]),
    FIELD("rsp", gp[4]),  FIELD("rbp", gp[5]),  FIELD("rsi", gp[6]),  FIELD("rdi", gp[7]),
    FIELD("r8", gp[8]),   FIELD("r9", gp[9]),   FIELD("r10", gp[10]), FIELD("r11", gp[11]),
    FIELD("r12", gp[12]), FIELD("r13", gp[13]), FIELD("r14", gp[14]), FIELD("r15", gp[15]),
    FLAG(cf), FLAG(pf), FLAG(af), FLAG(zf),
    FLAG(sf), FLAG(of), FLAG(df), FLAG(id),
    FIELD("fsbase", fsbase), FIELD("gsbase", gsbase), FIELD("mxcsr", mxcsr),
    FIELD("fcw", fpu_cw), FIELD("fsw", fpu_sw), FIELD("ftop", fpu_top), FIELD_LIMITED("ftag", fpu_tag, 0xff, true),
    FIELD("k0", k[0]), FIELD("k1", k[1]), FIELD("k2", k[2]), FIELD("k3", k[3]),
    FIELD("k4", k[4]), FIELD("k5", k[5]), FIELD("k6", k[6]), FIELD("k7", k[7]),
};
// clang-format on
const size_t guest_field_count = ARRAY_LEN(guest_fields);

/* The x87 condition codes, so that a case can leave single ones open. */
static const u16 condition_code[4] = {0x0100, 0x0200, 0x0400, 0x4000};

/* -------------------------------------------------------------------------------------------------- assignments */

/* stN is relative to the top given so far. Giving it a value puts the register in use. */
static bool assign_st(Parse *p, unsigned index) {
    LatheX86Cpu *c = &p->s->cpu;
    unsigned physical = (c->fpu_top + index) & 7;
    if (parse_is_open(p))
        return parse_open(p, c->st[physical], 10);
    c->fpu_tag &= (u8) ~(1 << physical);
    if (!strcmp(p->value, "empty"))
        return true;
    c->fpu_tag |= (u8)(1 << physical);
    return parse_wide(p, c->st[physical], 10);
}

/* An MMX write marks all of the x87 stack as in use, with top 0 and the exponent all ones (SDM 1, 9.6.2). */
static bool assign_mm(Parse *p, unsigned index) {
    LatheX86Cpu *c = &p->s->cpu;
    if (parse_is_open(p))
        return parse_open(p, c->st[index], 8);
    c->fpu_top = 0;
    c->fpu_tag = 0xff;
    c->st[index][8] = c->st[index][9] = 0xff;
    return parse_wide(p, c->st[index], 8);
}

static bool assign_vector(Parse *p, unsigned index, size_t size) {
    u8 *at = p->s->cpu.vec[index];
    return parse_is_open(p) ? parse_open(p, at, size) : parse_wide(p, at, size);
}

static bool assign_condition_code(Parse *p, unsigned index) {
    if (parse_is_open(p) && !p->ignore)
        return parse_fail(p, "%s=? makes sense only for expected state", p->name);
    u16 *word = parse_is_open(p) ? &p->ignore->cpu.fpu_sw : &p->s->cpu.fpu_sw;
    *word = (u16)((*word & ~condition_code[index]) | (*p->value != '0' ? condition_code[index] : 0));
    return true;
}

bool guest_assign(Parse *p) {
    unsigned i;
    if (parse_numbered(p->name, "xmm", 32, &i))
        return assign_vector(p, i, 16);
    if (parse_numbered(p->name, "ymm", 32, &i))
        return assign_vector(p, i, 32);
    if (parse_numbered(p->name, "zmm", 32, &i))
        return assign_vector(p, i, 64);
    if (parse_numbered(p->name, "st", 8, &i))
        return assign_st(p, i);
    if (parse_numbered(p->name, "mm", 8, &i))
        return assign_mm(p, i);
    if (parse_numbered(p->name, "c", 4, &i))
        return assign_condition_code(p, i);
    return parse_fail(p, "there is no state called '%s'", p->name);
}

/* ------------------------------------------------------------------------------------------------------ changes */

static bool is_mmx(const LatheX86Cpu *c, unsigned physical) {
    return c->fpu_tag == 0xff && c->fpu_top == 0 && c->st[physical][8] == 0xff && c->st[physical][9] == 0xff;
}

/* The contents of an empty register are no state. Which are empty is told by the tag's own entry. */
static void fpu_changes(Out *o, const LatheX86Cpu *from, const LatheX86Cpu *to, const LatheX86Cpu *ignore) {
    for (unsigned i = 0; i < 8; i++) {
        unsigned physical = (to->fpu_top + i) & 7;
        if (!(to->fpu_tag >> physical & 1) ||
            !out_differing(from->st[physical], to->st[physical], ignore->st[physical], 10))
            continue;
        if (is_mmx(to, physical))
            out_number(o, "mm", physical, to->st[physical], 8, 16);
        else
            out_number(o, "st", i, to->st[physical], 10, 20);
    }
}

/* A vector register is named by the smallest size that covers what changed. */
static void vector_changes(Out *o, const LatheX86Cpu *from, const LatheX86Cpu *to, const LatheX86Cpu *ignore) {
    for (unsigned i = 0; i < 32; i++) {
        size_t end = out_differing(from->vec[i], to->vec[i], ignore->vec[i], 64);
        if (end > 32)
            out_number(o, "zmm", i, to->vec[i], 64, 0);
        else if (end > 16)
            out_number(o, "ymm", i, to->vec[i], 32, 0);
        else if (end)
            out_number(o, "xmm", i, to->vec[i], 16, 32);
    }
}

void guest_changes(Out *o, const GuestCpu *from, const GuestCpu *to, const GuestCpu *ignore) {
    fpu_changes(o, from, to, ignore);
    vector_changes(o, from, to, ignore);
}

void guest_default(GuestCpu *c) {
    c->mxcsr = 0x1f80;
    c->fpu_cw = 0x37f;
    c->fsbase = STATE_MEMORY + 0x400;
    c->gsbase = STATE_MEMORY + 0xc00;
    for (unsigned i = 0; i < 16; i++)
        c->gp[i] = guest_mix(i);
    c->gp[LATHE_RSP] = STATE_MEMORY + 0x800;
    for (unsigned i = 0; i < 8; i++) {
        c->k[i] = guest_mix(0x100 + i);
        for (unsigned j = 0; j < 10; j++)
            c->st[i][j] = (u8)guest_mix(0x200 + 16 * i + j);
    }
    for (unsigned i = 0; i < 32 * 64; i++)
        c->vec[i / 64][i % 64] = (u8)guest_mix(0x1000 + i);
}

const char *guest_directive(const char *insns) {
    (void)insns;
    return ".intel_syntax noprefix";
}

u64 guest_segment_base(const GuestCpu *cpu, u8 seg) {
    return seg == SEG_FS ? cpu->fsbase : seg == SEG_GS ? cpu->gsbase : 0;
}

void guest_reserve(GuestCpu *cpu, u64 address) {
    (void)cpu, (void)address;
}
