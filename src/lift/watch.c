/* watch.c: tells a LiftWatch what happens: see watch.h. */
#include "lift/watch.h"

#include "lift/func.h"

static const LiftWatch *watch_of(const LatheFunc *fn) {
    return fn->tuning.watch;
}

static bool watches_blocks(const LatheFunc *fn) {
    return watch_of(fn) && watch_of(fn)->blocks;
}

static bool goes_on(const LatheFunc *fn, const Insn *in) {
    return watch_of(fn)->goes_on(watch_of(fn)->user, in);
}

bool watch_look(const LatheFunc *fn, u64 pc, const u8 *bytes, size_t *size) {
    return !watch_of(fn) || watch_of(fn)->look(watch_of(fn)->user, pc, bytes, size);
}

/* Code that is entered in the middle of a block, in a state that says so. */
static Val entered_by_transfer(LatheFunc *fn) {
    Lifter *l = &fn->l;
    if (watch_of(fn)->inside_traps)
        return ir_int(l, I1, 1);
    Val at = ir_state(l, watch_of(fn)->inside_off), inside = ir_load(l, I8, at, 1, SPACE_STATE);
    ir_store(l, ir_int(l, I8, 0), at, 1, SPACE_STATE);
    return ir_is_zero(l, inside);
}

void watch_begin(LatheFunc *fn) {
    if (!watch_of(fn))
        return;
    u64 *pcs = ARENA_ARRAY(&fn->arena, u64, fn->insns.len);
    for (size_t i = 0; i < fn->insns.len; i++)
        pcs[i] = fn->insns.at[i].pc;
    watch_of(fn)->begin(watch_of(fn)->user, pcs, fn->insns.len);
    if (watches_blocks(fn))
        fn->entered = entered_by_transfer(fn);
}

/* --------------------------------------------------------------------------------------------------------------- blocks */

static const Insn *last_of(const LatheFunc *fn, const Block *b) {
    const Insn *in = &fn->insns.at[b->first];
    for (u32 i = 1; i < b->insn_count; i++)
        in = &fn->insns.at[in->next];
    return in;
}

/* An i1: does whoever comes from a block to the next one transfer control? */
static Val transfers(LatheFunc *fn, u32 from) {
    return from ? ir_int(&fn->l, I1, !goes_on(fn, last_of(fn, &fn->blocks[from]))) : fn->entered;
}

static bool is_always(Val begins) {
    u64 value;
    return begins && ir_is_const(begins, &value) && value;
}

static bool is_never(Val begins) {
    u64 value;
    return !begins || (ir_is_const(begins, &value) && !value);
}

Val watch_head(LatheFunc *fn, Block *b) {
    bool always = true, never = true;
    if (!watches_blocks(fn))
        return NULL;
    for (const BlockList *e = b->preds; e; e = e->next)
        if (fn->blocks[e->block].reachable) {
            Val begins = transfers(fn, e->block);
            always &= is_always(begins);
            never &= is_never(begins);
        }
    if (always || never)
        return always ? ir_int(&fn->l, I1, 1) : NULL;
    return b->begins = ir_phi(&fn->l, I1);
}

Val watch_next(const LatheFunc *fn, const Insn *before) {
    return watches_blocks(fn) && !goes_on(fn, before) ? ir_int((Lifter *)&fn->l, I1, 1) : NULL;
}

void watch_finish(LatheFunc *fn) {
    for (u32 i = 1; i < fn->order_count; i++) {
        const Block *b = &fn->blocks[fn->order[i]];
        for (const BlockList *e = b->begins ? b->preds : NULL; e; e = e->next)
            if (fn->blocks[e->block].reachable)
                ir_phi_add(b->begins, transfers(fn, e->block), fn->blocks[e->block].tail);
    }
}

bool watch_leaves_inside(const LatheFunc *fn, Val begins) {
    return watches_blocks(fn) && !is_always(begins);
}

bool watch_goes_on_inside(const LatheFunc *fn, const Insn *last) {
    return watches_blocks(fn) && goes_on(fn, last);
}

LatheTrap watch_set_inside(LatheFunc *fn, Val begins) {
    Lifter *l = &fn->l;
    Val inside = begins ? ir_zext(l, ir_not(l, begins), I8) : ir_int(l, I8, 1);
    ir_store(l, inside, ir_state(l, watch_of(fn)->inside_off), 1, SPACE_STATE);
    return watch_of(fn)->inside_traps ? LATHE_TRAP_INSIDE : LATHE_TRAP_NONE;
}

/* --------------------------------------------------------------------------------------------------------- instructions */

void watch_before(LatheFunc *fn, const Insn *in, Val begins) {
    if (watch_of(fn))
        watch_of(fn)->before(watch_of(fn)->user, &fn->l, in, begins);
}

void watch_transfer(LatheFunc *fn, const Insn *in, Val target, Val taken) {
    if (watch_of(fn))
        watch_of(fn)->transfer(watch_of(fn)->user, &fn->l, in, target, taken);
}

void watch_behind(LatheFunc *fn, const Insn *in) {
    if (watch_of(fn) && in->flow == FLOW_NEXT)
        watch_of(fn)->behind(watch_of(fn)->user, &fn->l, in);
}
