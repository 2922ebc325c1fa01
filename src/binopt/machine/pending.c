/* pending.c: see pending.h. */
#include "binopt/machine/pending.h"

enum { RED_ZONE = 128 };

void pending_reset(Pending *p) {
    for (u8 r = 0; r < GP_COUNT; r++)
        p->from[r] = r, p->delta[r] = 0;
    p->open = 0;
}

void pending_written(Pending *p, u8 reg) {
    p->from[reg] = reg;
    p->delta[reg] = 0;
    p->open &= ~BIT(reg);
}

/* mov %from, %reg */
static u32 put_move(u8 reg, u8 from, u8 *to) {
    to[0] = (u8)(0x48 | (from & 8 ? 4 : 0) | (reg & 8 ? 1 : 0));
    to[1] = 0x89;
    to[2] = (u8)(0xc0 | (from & 7) << 3 | (reg & 7));
    return 3;
}

void pending_overwrite(Pending *p, Code *c, u8 reg, RegSet needed) {
    for (u8 r = 0; p->open && r < GP_COUNT; r++)
        if (r != reg && p->from[r] == reg) {
            if (needed & BIT(r))
                pending_settle(p, c, r, needed);
            else
                pending_written(p, r);
        }
}

void pending_settle(Pending *p, Code *c, u8 reg, RegSet needed) {
    if (!(p->open & BIT(reg)))
        return;
    pending_overwrite(p, c, reg, needed);
    u8 *to = c->write + c->size;
    if (p->delta[reg] || reg == R_SP)
        c->size += encode_lea(reg, p->from[reg], (i32)p->delta[reg], 64, to);
    else if (p->from[reg] != reg)
        c->size += put_move(reg, p->from[reg], to);
    pending_written(p, reg);
}

void pending_settle_all(Pending *p, Code *c, RegSet needed) {
    for (u8 r = 0; p->open && r < GP_COUNT; r++)
        if (p->open & needed & BIT(r))
            pending_settle(p, c, r, needed);
}

bool pending_set(Pending *p, Code *c, u8 reg, u8 from, i64 delta, RegSet needed) {
    i64 total = p->delta[from] + delta;
    if (!encode_fits32(total))
        return false;
    u8 source = p->from[from];
    if (source != reg) {
        pending_overwrite(p, c, reg, needed);
        source = p->from[from];
        total = p->delta[from] + delta;
    }
    p->from[reg] = source;
    p->delta[reg] = total;
    p->open = source == reg && !total ? p->open & ~BIT(reg) : p->open | BIT(reg);
    return true;
}

static bool resolve_one(const Pending *p, u8 *reg, u8 scale, i64 *disp) {
    if (*reg >= GP_COUNT)
        return true;
    *disp += p->delta[*reg] * scale;
    *reg = p->from[*reg];
    return encode_fits32(*disp);
}

bool pending_resolve(const Pending *p, Mem *m) {
    Mem made = *m;
    if (!resolve_one(p, &made.base, 1, &made.disp) || !resolve_one(p, &made.index, made.scale, &made.disp))
        return false;
    if (made.index == R_SP || (made.base == R_SP && m->base == R_SP && made.disp < -RED_ZONE && made.disp != m->disp))
        return false;
    *m = made;
    return true;
}
