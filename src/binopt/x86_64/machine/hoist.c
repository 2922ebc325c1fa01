/* hoist.c: see hoist.h. By the calling convention, vector registers 8 to 15 hold no arguments when a function is
 * entered, and a function that calls no other one keeps what it puts there. */
#include "binopt/x86_64/machine/hoist.h"

#include "binopt/x86_64/machine/live.h"

enum { FIRST = 8, LAST = 15 };

/* All vector registers that the new code uses; all of them if it contains a call. */
static Regs used(const MachineUnit *u, const BlockOrder *order) {
    Regs set = 0;
    for (size_t i = 0; i < order->list.len; i++) {
        const MachineBlock *b = &u->blocks.at[order->list.at[i]];
        for (u32 k = 0; k < b->out_count; k++) {
            const OutInsn *o = &b->out[k];
            if (!o->dead)
                set |= o->kind == OUT_CALL ? ALL_VEC : o->reads | o->writes;
        }
    }
    return set;
}

static u8 register_for(Hoisted *h, Regs used, u32 bytes) {
    for (u32 i = 0; i < h->count; i++)
        if (h->bytes[i] == bytes)
            return h->vec[i];
    u8 next = (u8)(h->count ? h->vec[h->count - 1] + 1 : FIRST);
    while (next <= LAST && used & BIT(XMM0 + next))
        next++;
    if (next > LAST)
        return NO_REG;
    h->vec[h->count] = next;
    h->bytes[h->count++] = bytes;
    return next;
}

Hoisted hoist_constants(MachineUnit *u, const BlockOrder *order) {
    Hoisted h = {0};
    Regs taken = used(u, order);
    for (size_t i = 0; i < order->list.len; i++) {
        MachineBlock *b = &u->blocks.at[order->list.at[i]];
        for (u32 k = 0; b->depth && k < b->out_count; k++) {
            OutInsn *o = &b->out[k];
            u8 vec = o->constant && !o->dead && !live_is_constant(o) ? register_for(&h, taken, o->bytes) : NO_REG;
            if (vec == NO_REG)
                continue;
            o->address = ADDRESS_REGISTER;
            o->addr = vec;
        }
    }
    return h;
}
