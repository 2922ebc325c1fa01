/* pending.c: see pending.h. */
#include "binopt/x86_64/machine/pending.h"

enum { RED_ZONE = 128 };

void pending_reset(Pending *p) {
    for (u8 r = 0; r < GP_COUNT; r++)
        p->from[r] = r, p->delta[r] = 0;
    p->open = p->narrow = 0;
    p->fact_count = 0;
}

static void close_one(Pending *p, u8 reg) {
    p->from[reg] = reg;
    p->delta[reg] = 0;
    p->open &= ~BIT(reg);
    p->narrow &= ~BIT(reg);
}

void pending_written(Pending *p, u8 reg) {
    close_one(p, reg);
    for (u32 i = 0; i < p->fact_count;) {
        const RegFact *f = &p->fact[i];
        if (f->reg == reg || f->of == reg || f->other == reg)
            p->fact[i] = p->fact[--p->fact_count];
        else
            i++;
    }
}

void pending_learn(Pending *p, RegFact f) {
    if (f.reg == f.of || f.reg == f.other)
        return;
    if (p->fact_count == MAX_FACTS)
        memmove(p->fact, p->fact + 1, --p->fact_count * sizeof(f));
    p->fact[p->fact_count++] = f;
}

u8 pending_known(const Pending *p, u8 of, u8 other, i32 by) {
    for (u32 i = 0; i < p->fact_count; i++) {
        const RegFact *f = &p->fact[i];
        bool same = f->of == of && f->other == other, turned = other != NO_REG && f->of == other && f->other == of;
        if ((same || turned) && f->by == by)
            return f->reg;
    }
    return NO_REG;
}

u8 pending_spare(const Pending *p, Regs needed) {
    Regs taken = needed | BIT(RSP);
    for (u8 r = 0; r < GP_COUNT; r++)
        taken |= p->from[r] != r || needed & BIT(r) ? BIT(p->from[r]) : 0;
    for (u32 i = 0; i < p->fact_count; i++)
        taken |= BIT(p->fact[i].reg);
    for (u8 r = 0; r < GP_COUNT; r++)
        if (!(taken & BIT(r)))
            return r;
    return NO_REG;
}

/* mov %from, %reg */
static u32 put_move(u8 reg, u8 from, bool narrow, u8 *to) {
    to[0] = (u8)((narrow ? 0x40 : 0x48) | (from & 8 ? 4 : 0) | (reg & 8 ? 1 : 0));
    to[1] = 0x89;
    to[2] = (u8)(0xc0 | (from & 7) << 3 | (reg & 7));
    return 3;
}

void pending_overwrite(Pending *p, CodeOut *c, u8 reg, Regs needed) {
    for (u8 r = 0; p->open && r < GP_COUNT; r++)
        if (r != reg && p->from[r] == reg) {
            if (needed & BIT(r))
                pending_settle(p, c, r, needed);
            else
                close_one(p, r);
        }
}

void pending_settle(Pending *p, CodeOut *c, u8 reg, Regs needed) {
    if (!(p->open & BIT(reg)))
        return;
    pending_overwrite(p, c, reg, needed);
    u8 *to = c->write + c->size;
    bool narrow = p->narrow & BIT(reg);
    if (p->delta[reg] || reg == RSP)
        c->size += encode_lea(reg, p->from[reg], (i32)p->delta[reg], narrow ? 32 : 64, to);
    else if (p->from[reg] != reg || narrow)
        c->size += put_move(reg, p->from[reg], narrow, to);
    pending_written(p, reg);
}

void pending_settle_all(Pending *p, CodeOut *c, Regs needed) {
    for (u8 r = 0; p->open && r < GP_COUNT; r++)
        if (p->open & needed & BIT(r))
            pending_settle(p, c, r, needed);
}

static void set(Pending *p, u8 reg, u8 real, i64 delta, bool narrow) {
    p->from[reg] = real;
    p->delta[reg] = delta;
    p->open = real == reg && !delta && !narrow ? p->open & ~BIT(reg) : p->open | BIT(reg);
    p->narrow = narrow ? p->narrow | BIT(reg) : p->narrow & ~BIT(reg);
}

bool pending_set(Pending *p, CodeOut *c, u8 reg, u8 from, i64 delta, u32 bits, Regs needed) {
    bool narrow = bits == 32, half = p->narrow & BIT(from);
    i64 sum = narrow ? (i32)(u32)((u64)p->delta[from] + (u64)delta) : p->delta[from] + delta;
    if (!encode_fits32(sum) || (narrow && (reg == RSP || p->from[from] == RSP)) || (!narrow && half && delta))
        return false;
    if (p->from[from] != reg)
        pending_overwrite(p, c, reg, needed);
    set(p, reg, p->from[from], sum, narrow || half);
    return true;
}

bool pending_set_real(Pending *p, CodeOut *c, u8 reg, u8 real, i64 delta, Regs needed) {
    if (!encode_fits32(delta) || (real != reg && p->from[real] != real))
        return false;
    if (real != reg)
        pending_overwrite(p, c, reg, needed);
    set(p, reg, real, delta, false);
    return true;
}

static bool resolve_one(const Pending *p, u8 *reg, u8 scale, i64 *disp) {
    if (*reg >= GP_COUNT)
        return true;
    if (p->narrow & BIT(*reg))
        return false;
    *disp += p->delta[*reg] * scale;
    *reg = p->from[*reg];
    return encode_fits32(*disp);
}

bool pending_resolve(const Pending *p, Mem *m) {
    Mem made = *m;
    if (!resolve_one(p, &made.base, 1, &made.disp) || !resolve_one(p, &made.index, made.scale, &made.disp))
        return false;
    if (made.index == RSP || (made.base == RSP && m->base == RSP && made.disp < -RED_ZONE && made.disp != m->disp))
        return false;
    *m = made;
    return true;
}
