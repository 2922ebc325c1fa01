/* jumps.h: jumps from one function into another one, and what leaves frames without a return. */
#ifndef CALLS_JUMPS_H
#define CALLS_JUMPS_H

#include "frames.h"

/* ------------------------------------------------------------------------------------------------------------ surprises */

/* Has the program left the top frame, if it is at pc, which is in a function, with this stack pointer, or one that is greater by `slack` at most? Handlers of signals are not left by returns. */
static bool is_gone(const Frame *f, uint64_t pc, uint64_t sp, uint64_t slack, const Function *function) {
    if (slack && f->edge->handles)
        return false;
    if (frame_sp(f) - sp > slack)
        return frame_sp(f) < sp;
    return frame_back(f) == pc || (f[-1].edge->function == function->id && pc != function->start);
}

/* The program has jumped back into a function from which it has jumped: the frame of that jump; NULL: it is no such function. */
static Frame *jump_from(Own *own, uint64_t function) {
    for (Frame *f = own->top; f > own->frames + 1 && f[-1].edge->jumped; f--)
        if (f[-2].edge->function == function)
            return f - 1;
    return NULL;
}

static uint64_t link_number(uint64_t from, uint64_t target) {
    return (from / 8 ^ target / 4) % LINKS;
}

static Link *link_slot(Own *own, uint64_t from, uint64_t target) {
    return &own->links[link_number(from, target)];
}

/* The edge of a jump into a function. If it comes from one that only leads there, which another edge has led to, it is instead of that. What is known of these is among the links: an edge
 * has a number there that is no address of an instruction, and a function one that is no target of a call. */
static Edge *edge_of_jump(Own *own, const Edge *instead_of, uint64_t pc, uint64_t target, uint64_t function) {
    uint64_t key = instead_of ? ~(uint64_t)instead_of->number : pc, where = 4 * function;
    Link *slot = link_slot(own, key, where);
    if (slot->from == key && slot->target == where)
        return slot->edge;
    bool stub = !instead_of && is_stub(target);
    Edge edge = instead_of ? *instead_of : (Edge){.pc = pc, .jumped = true, .stub = stub};
    edge.function = (uint32_t)function;
    edge.passes = stub || (instead_of && is_resolver(function_no(function)));
    *slot = (Link){.from = key, .target = where, .edge = edge_like(edge)};
    return slot->edge;
}

/* The call of a function that only leads to another one is done, and in its place is that of the other one. */
static void pass_on(Own *own, Edge *edge) {
    uint64_t sp = frame_sp(own->top - 1);
    pop(own);
    push(own, edge, sp);
}

/* The stub does not lead to the function that was noted as called, but to another one. */
static void call_instead(Own *own, Edge *edge) {
    Frame *f = own->top - 1;
    reach(own, edge->greatest);
    --*active(own, f->edge->function);
    ++*active(own, edge->function);
    f->edge = edge;
    set_function(own, folded ? own->nodes[f - own->frames] : NULL, edge->function);
}

/* A jump into another function. If it comes from one that only leads there, that one is done, and whoever has called it calls the other one. */
static void jump(Own *own, uint64_t pc, uint64_t target, uint64_t function) {
    if (!has_frames(own)) {
        own->outermost.function = (uint32_t)function;
        set_function(own, own->root, function);
        return;
    }
    Edge *top = own->top[-1].edge;
    bool instead = top->stub && !top->passes && function_at(own, pc) != own->function;
    Edge *edge = edge_of_jump(own, top->passes || instead ? top : NULL, pc, target, function);
    if (instead)
        call_instead(own, edge);
    else if (top->passes)
        pass_on(own, edge);
    else
        push(own, edge, frame_sp(own->top - 1));
    __atomic_store_n(&top->jump, edge, __ATOMIC_RELEASE);
}

/* True: a jump into a function is done, as it was done the last time. The stack pointer says that the innermost call has not returned. */
static bool jump_again(Own *own, uint64_t pc, uint64_t function, uint64_t sp) {
    const Frame *f = own->top - 1;
    Edge *edge = __atomic_load_n(&f->edge->jump, __ATOMIC_ACQUIRE);
    if (!edge || edge->function != function || f->edge->jumped || folded || f->key <= sp)
        return false;
    if (f->edge->passes)
        pass_on(own, edge);
    else if (edge->pc == pc && edge->jumped)
        push(own, edge, f->key);
    else
        return false;
    return true;
}

/* From pc, control goes to another place; the stack pointer is `sp` there, or greater by `slack` at most. */
static __attribute__((noinline)) void find_way(Own *own, uint64_t pc, uint64_t target, uint64_t sp, uint64_t slack) {
    uint64_t id = function_at(own, target);
    const Function *function = function_no(id);
    while (has_frames(own) && is_gone(own->top - 1, target, sp, slack, function))
        pop(own);
    if (own->function == id)
        return;
    const Frame *from = jump_from(own, id);
    while (from && own->top > from)
        pop(own);
    if (!from)
        jump(own, pc, target, id);
}

/* ---------------------------------------------------------------------------------------------------------------- jumps */

/* Words of a site of a computed jump: the addresses of the function that it is in, from the first one on, and how many; a stub's target, once it is known, and the id of its function. */
enum { JUMP_FROM, JUMP_BYTES, JUMP_TARGET, JUMP_FUNCTION };

static void set_extent(uint64_t *site, uint64_t pc) {
    uint64_t from, to;
    lathe_extent(pc, &from, &to);
    __atomic_store_n(&site[JUMP_FROM], from, __ATOMIC_RELAXED);
    __atomic_store_n(&site[JUMP_BYTES], to - from, __ATOMIC_RELEASE);
}

/* Another thread sets the same, or has done so. */
static void set_target(uint64_t *site, uint64_t target, uint64_t function) {
    lathe_lock(&edges_lock);
    if (!site[JUMP_TARGET]) {
        site[JUMP_FUNCTION] = function;
        __atomic_store_n(&site[JUMP_TARGET], target, __ATOMIC_RELEASE);
    }
    lathe_unlock(&edges_lock);
}

/* A jump that may lead to another function. */
static __attribute__((noinline)) void jump_slowly(Own *own, uint64_t pc, uint64_t target, uint64_t sp) {
    if (!own->outermost.function)
        begin_in(own, pc);
    uint64_t function = function_at(own, target);
    if (function != own->function && !(has_frames(own) && jump_again(own, pc, function, sp)))
        find_way(own, pc, target, sp, 0);
}

static __attribute__((noinline)) void jump_computed_slowly(Own *own, uint64_t *site, uint64_t pc, uint64_t target,
                                                           uint64_t sp) {
    if (!site[JUMP_BYTES])
        set_extent(site, pc);
    if (target - site[JUMP_FROM] < site[JUMP_BYTES])
        return;
    uint64_t before = own->function;
    jump_slowly(own, pc, target, sp);
    if (own->function == before && !site[JUMP_TARGET])
        set_target(site, target, before);
}

/* Most jumps to computed addresses lead within the function, or are those of stubs, whose calls were noted as those of the function that they lead to. */
static void jump_computed(Own *own, uint64_t *site, uint64_t pc, uint64_t target, uint64_t sp,
                          const uint64_t *counted) {
    if (__builtin_expect(target - site[JUMP_FROM] < site[JUMP_BYTES], true))
        return;
    if (__atomic_load_n(&site[JUMP_TARGET], __ATOMIC_ACQUIRE) == target && site[JUMP_FUNCTION] == own->function)
        return;
    own->executed = lathe_counted(counted);
    jump_computed_slowly(own, site, pc, target, sp);
}

/* Words of a site of a jump into another function: the id of the function that it is in, and the edge; NULL: by their ids, both are one. */
enum { AWAY_FUNCTION, AWAY_EDGE };

/* What was done the first time will be done again. */
static void set_away(const Own *own, uint64_t *site, uint64_t pc, uint64_t before) {
    bool same = own->function == before;
    Edge *edge = own->top[-1].edge, *whole = same ? NULL : without_stub(edge);
    if (site[AWAY_FUNCTION] || folded || (!same && (!edge->jumped || edge->pc != pc || whole->passes)))
        return;
    lathe_lock(&edges_lock);
    if (!site[AWAY_FUNCTION]) {
        site[AWAY_EDGE] = (uint64_t)whole;
        __atomic_store_n(&site[AWAY_FUNCTION], before, __ATOMIC_RELEASE);
    }
    lathe_unlock(&edges_lock);
}

/* The second jump since the last call, if it is not back into the function that the first one came from. */
static bool jump_on(Own *own, const uint64_t *site) {
    const Frame *top = own->top;
    Edge *edge = (Edge *)site[AWAY_EDGE];
    bool second = edge && top > own->frames + 2 && top[-1].edge->jumped && !top[-2].edge->jumped;
    if (site[AWAY_FUNCTION] != own->function || !second || edge->function == top[-2].edge->function)
        return false;
    push(own, edge, frame_sp(top - 1));
    return true;
}

static __attribute__((noinline)) void jump_away_slowly(Own *own, uint64_t *site, uint64_t pc, uint64_t target,
                                                       uint64_t sp) {
    uint64_t before = own->function;
    if (jump_on(own, site))
        return;
    jump_slowly(own, pc, target, sp);
    if (before)
        set_away(own, site, pc, before);
}

static void jump_away(Own *own, uint64_t *site, uint64_t pc, uint64_t target, uint64_t sp, const uint64_t *counted) {
    const Frame *top = own->top;
    if (__builtin_expect(__atomic_load_n(&site[AWAY_FUNCTION], __ATOMIC_ACQUIRE) != own->function, false))
        goto slowly;
    Edge *edge = (Edge *)site[AWAY_EDGE];
    if (!edge)
        return;
    if (__builtin_expect(!has_room(own, edge) || top[-1].edge->jumped, false))
        goto slowly;
    push_quickly(own, edge, top[-1].key, lathe_counted(counted));
    STAYS(own);
    STAYS(site);
    STAYS(pc);
    STAYS(target);
    STAYS(sp);
    STAYS(counted);
    return;
slowly:
    own->executed = lathe_counted(counted);
    jump_away_slowly(own, site, pc, target, sp);
}

static void branch_away(Own *own, uint64_t pc, uint64_t target, uint64_t taken, uint64_t sp, const uint64_t *counted) {
    if (__builtin_expect(!taken, true))
        return;
    own->executed = lathe_counted(counted);
    jump_slowly(own, pc, target, sp);
}

#endif
