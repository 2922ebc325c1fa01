/* hoist.c: see hoist.h. By the calling convention the upper half of the vector registers has nothing in it when a function is
 * entered, and a function that calls nobody keeps what it puts there. */
#include "binopt/machine/hoist.h"

#include "binopt/machine/live.h"

enum { FIRST = 8, LAST = 15 };

/* All vectors that the new code has to do with; all, if it calls somebody. */
static RegSet used(const Unit *u, const i32 *order, size_t count) {
    RegSet set = 0;
    for (size_t i = 0; i < count; i++) {
        const Block *b = &u->blocks.at[order[i]];
        for (u32 k = 0; k < b->out_count; k++) {
            const Out *o = &b->out[k];
            if (!o->dead)
                set |= o->kind == OUT_CALL ? ALL_VEC : o->reads | o->writes;
        }
    }
    return set;
}

/* Blocks between the beginning of a loop and a jump back to it. */
static void mark_loops(const Unit *u, const i32 *order, size_t count, u8 *in_loop) {
    u32 *place = mem_new(u->blocks.len * sizeof(*place));
    for (size_t i = 0; i < count; i++)
        place[order[i]] = (u32)i;
    for (size_t i = 0; i < count; i++)
        for (u32 k = 0; k < 2; k++) {
            i32 next = graph_resolve(u, u->blocks.at[order[i]].next[k]);
            for (size_t n = next == NO_BLOCK ? count : place[next]; n <= i && n < count; n++)
                in_loop[n] = 1;
        }
    mem_free(place);
}

static u8 register_for(Hoisted *h, RegSet used, u32 bytes) {
    for (u32 i = 0; i < h->count; i++)
        if (h->bytes[i] == bytes)
            return h->vec[i];
    u8 next = (u8)(h->count ? h->vec[h->count - 1] + 1 : FIRST);
    while (next <= LAST && used & BIT(R_VEC + next))
        next++;
    if (next > LAST)
        return NO_REG;
    h->vec[h->count] = next;
    h->bytes[h->count++] = bytes;
    return next;
}

Hoisted hoist_constants(Unit *u, const i32 *order, size_t count) {
    Hoisted h = {0};
    RegSet taken = used(u, order, count);
    u8 *in_loop = mem_new(count);
    mark_loops(u, order, count, in_loop);
    for (size_t i = 0; i < count; i++) {
        Block *b = &u->blocks.at[order[i]];
        for (u32 k = 0; in_loop[i] && k < b->out_count; k++) {
            Out *o = &b->out[k];
            u8 vec = o->constant && !o->dead && !live_is_constant(o) ? register_for(&h, taken, o->bytes) : NO_REG;
            if (vec == NO_REG)
                continue;
            o->address = ADDRESS_REGISTER;
            o->addr = vec;
        }
    }
    mem_free(in_loop);
    return h;
}
