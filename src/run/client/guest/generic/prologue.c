/* prologue.c: see prologue.h, and caller_by_code of core/caller.h.
 *
 * For these guests, compilers write unwind tables (.eh_frame) only where exceptions may pass. So what a function does with sp is read from its
 * instructions, in the order of their addresses: at the beginning it lowers sp and saves registers. Before a return, or a jump that leaves the
 * function, it loads the registers again; behind that, the code belongs to another path, so everything is as it was before the registers were loaded. */
#include "run/client/guest/generic/prologue.h"

#include "run/client/core/caller.h"
#include "run/client/memory/peek.h"

void prologue_save(PrologueFrame *f, u32 reg, i64 off) {
    f->saved |= (u32)1 << reg;
    f->at[reg] = f->depth - off;
}

void prologue_point(PrologueFrame *f, i64 off) {
    f->has_pointer = true;
    f->pointer_depth = f->depth - off;
}

void prologue_load(Prologue *p, u32 reg) {
    if (reg != GUEST_LINK || p->has_before)
        return;
    p->before = p->now;
    p->has_before = true;
}

void prologue_leave(Prologue *p) {
    if (p->has_before)
        p->now = p->before;
    p->has_before = false;
}

static bool read_code(u64 at, u64 until, PrologueFrame *f) {
    enum { BYTES_MOST = 64 << 10, CHUNK = 16 };
    Prologue p = {0};
    u8 bytes[CHUNK];
    if (until - at > BYTES_MOST)
        return false;
    while (at < until) {
        u32 word;
        if (!copy_guarded(bytes, (const void *)(at & ~(u64)7), at % 8 > 4 ? 16 : 8))
            return false;
        memcpy(&word, bytes + at % 8, sizeof(word));
        at += prologue_read(&p, word);
    }
    *f = p.now;
    return true;
}

/* The stack pointer in the caller. */
static u64 top_of(const PrologueFrame *f, const Caller *c) {
    if (!f->unknown)
        return c->reg[GUEST_SP] + (u64)f->depth;
    return f->has_pointer ? c->reg[GUEST_FRAME] + (u64)f->pointer_depth : 0;
}

bool caller_by_code(Caller *c, u64 start, bool behind_call) {
    PrologueFrame f;
    if (!read_code(start, c->pc, &f) || (behind_call && !(f.saved >> GUEST_LINK & 1)))
        return false;
    Caller caller = *c;
    u64 top = caller.reg[GUEST_SP] = top_of(&f, c);
    for (u32 i = 0; i < GUEST_REGISTERS; i++)
        if (f.saved >> i & 1 && !copy_guarded(&caller.reg[i], (const void *)(top - (u64)f.at[i]), sizeof(u64)))
            return false;
    caller.pc = caller.reg[GUEST_LINK];
    *c = caller;
    return true;
}
