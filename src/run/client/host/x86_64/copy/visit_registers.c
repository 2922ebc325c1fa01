/* visit_registers.c: see visiting.h. A copy of a tool's function gets registers in this order: those that the guest does not need, those that the instruction overwrites, and
 * those that the guest uses last. An argument that is in a register of the guest's stays there if the function does not change it. */
#include "run/client/host/x86_64/copy/visiting.h"

static bool is_read(const Visiting *g, u32 argument) {
    return g->in->copied_reads & bit(put_argument[argument]);
}

static bool is_used(const Visiting *g, u32 argument) {
    return (g->in->copied_reads | g->in->copied_clobbers) & bit(put_argument[argument]);
}

/* An address in the Thread, or a small number, becomes a part of the instructions that use it. */
static bool fold(Visiting *g, u32 argument) {
    enum { ADDRESS_MOST = INT32_MAX - (1 << 20) };
    const EmitValue *v = &g->v->value[argument];
    u32 reg = put_argument[argument];
    bool in_thread = v->kind == VALUE_THREAD;
    bool known = in_thread || (v->kind == VALUE_CONSTANT && v->number < ADDRESS_MOST);
    u32 can = in_thread ? g->in->bases : g->in->constants;
    if (!known || !g->in->renames || !is_read(g, argument) || !(can & bit(reg)))
        return false;
    g->names.folded |= bit(reg);
    g->names.in_thread |= in_thread ? bit(reg) : 0;
    g->names.at[reg] = (i32)v->number;
    return true;
}

/* It is the guest's also in rare parts, up to the call. */
static bool is_stack_pointer(const EmitValue *v) {
    return v->kind == VALUE_REGISTER && v->number == RSP;
}

static void choose_late(Visiting *g) {
    for (u32 i = 0; i < g->v->count; i++) {
        if (!(g->in->needed & bit(put_argument[i])))
            g->not_made |= (u32)1 << i;
        else if (!g->copied)
            continue;
        else if (value_is_fixed(&g->v->value[i]) && (!is_used(g, i) || fold(g, i)))
            g->late |= (u32)1 << i;
        else if (is_stack_pointer(&g->v->value[i]) && !is_used(g, i))
            g->late |= (u32)1 << i;
    }
}

/* The register that a value is in; REGISTERS: none. */
static u32 present_in(const EmitValue *v) {
    if (v->kind == VALUE_REGISTER)
        return (u32)v->number;
    bool plain = v->kind == VALUE_ADDRESS && v->at.index == REG_NONE && !v->at.disp && !v->at.seg &&
                 v->at.addr_bits == 64 && v->at.base < REGISTERS;
    return plain ? v->at.base : REGISTERS;
}

/* Registers that all values to be made are made of. */
static u32 sources(const Visiting *g, u32 *temporaries) {
    u32 all = 0;
    *temporaries = 0;
    for (u32 i = 0; i < g->v->count; i++)
        if (!((g->late | g->not_made) >> i & 1)) {
            all |= value_sources(&g->v->value[i]);
            *temporaries |= value_temporaries(&g->v->value[i]);
        }
    return all;
}

/* Arguments that stay where they are, unless that is changed for others. */
static void choose_present(Visiting *g, u32 changed) {
    for (u32 i = 0; g->copied && g->in->renames && i < g->v->count; i++) {
        u32 reg = present_in(&g->v->value[i]), argument = put_argument[i];
        bool pinned = (g->in->copied_clobbers | g->in->pinned) & bit(argument) || g->in->pinned & bit(reg) ||
                      (reg == RSP && g->in->indexes & bit(argument));
        if (pinned || reg >= REGISTERS || changed & bit(reg) || (g->late | g->not_made) >> i & 1)
            continue;
        g->names.to[argument] = (u8)reg;
        g->used |= bit(argument);
        g->present |= bit(argument);
        g->not_made |= (u32)1 << i;
    }
}

/* The one of some registers that the guest uses last. */
static u32 last_used(const Live *live, u32 registers) {
    u32 best = (u32)__builtin_ctz(registers);
    for (u32 r = best; r < REGISTERS; r++)
        if (registers >> r & 1 && live->distance[r] > live->distance[best])
            best = r;
    return best;
}

/* For what is known behind the visit: one that the guest leaves alone for as long as possible. */
static u32 choose_lasting(const Visiting *g, const Live *live, u32 possible) {
    u32 free = possible & ~g->live, best = free ? last_used(live, free) : 0;
    return free && live->distance[best] ? best : last_used(live, possible);
}

static u32 choose(const Visiting *g, const Live *live, u32 overwritten, u32 possible) {
    u32 free = possible & ~g->live, best = free & ~g->e->words.registers;
    if (free)
        return (u32)__builtin_ctz(best ? best : free);
    if (possible & overwritten)
        return (u32)__builtin_ctz(possible & overwritten);
    return last_used(live, possible);
}

/* The function's registers that are neither the guest's nor folded: of arguments that are made, and those that it changes. */
static u32 to_be_named(const Visiting *g) {
    u32 all = g->copied ? g->in->copied_clobbers : 0;
    for (u32 i = 0; i < g->v->count; i++)
        all |= (g->late | g->not_made) >> i & 1 ? 0 : bit(put_argument[i]);
    return all;
}

/* Does the function load a word of the tool's own into the register first? */
static bool loads_word(const Visiting *g, u32 reg) {
    u8 base = g->in->loads[reg].base;
    return g->copied && base < REGISTERS && g->names.folded & g->names.in_thread & bit(base);
}

/* The register that has it already; REGISTERS: none. */
static u32 known_register(const Visiting *g, u32 reg) {
    if (!loads_word(g, reg))
        return REGISTERS;
    return words_find(g->e, (u32)(g->names.at[g->in->loads[reg].base] + g->in->loads[reg].disp));
}

/* Loads of what is known need no instructions then. Returns the function's registers that have got one. */
static u32 choose_known(Visiting *g, u32 named, u32 banned, u32 *taken) {
    u32 all = 0;
    for (u32 r = 0; r < REGISTERS; r++) {
        u32 known = named >> r & 1 ? known_register(g, r) : REGISTERS;
        if (known == REGISTERS || (*taken | banned | g->in->pinned) & bit(known))
            continue;
        g->names.to[r] = (u8)known;
        *taken |= bit(known);
        all |= bit(r);
    }
    return all;
}

/* Returns the registers that are changed. */
static u32 choose_names(Visiting *g, const Live *live, u32 overwritten, u32 banned) {
    u32 named = to_be_named(g), fixed = g->copied && g->in->renames ? named & g->in->pinned : named, taken = fixed;
    u32 known = choose_known(g, named & ~fixed, banned, &taken);
    for (u32 r = 0; r < REGISTERS; r++) {
        if (!((named & ~fixed & ~known) >> r & 1))
            continue;
        u32 possible = LIVE_ALL & ~(banned | taken | g->in->pinned);
        bool lasting = g->in->straight && loads_word(g, r);
        g->names.to[r] = (u8)(lasting ? choose_lasting(g, live, possible) : choose(g, live, overwritten, possible));
        taken |= bit(g->names.to[r]);
    }
    g->used |= named;
    return taken;
}

void choose_registers(Visiting *g) {
    Live live;
    u32 temporaries;
    bool before = g->v->pc == g->e->pc;
    for (u32 r = 0; r < REGISTERS; r++)
        g->names.to[r] = (u8)r;
    live_look(g->e, g->v->pc, &live);
    u32 kept = before && g->e->kept_pc == g->v->pc ? g->e->kept : 0;
    u32 overwritten = before ? live.overwritten & ~g->v->watched & ~bit(RSP) : 0;
    g->flags = live.flags;
    choose_late(g);
    u32 read = sources(g, &temporaries);
    g->back = g->e->aside & read & LIVE_ALL;
    words_forget(g->e, g->back);
    g->live = (live.registers | bit(RSP) | (g->v->watched & LIVE_ALL)) & ~(kept | (g->e->aside & ~g->back));
    u32 others = temporaries | bit(RSP) | (g->flags ? bit(RAX) : 0);
    choose_present(g, others & ~bit(RSP));
    u32 changed = choose_names(g, &live, overwritten, read | others);
    g->flags_in_rax = g->flags && !(changed & bit(RAX)) && g->copied;
    changed |= temporaries | (g->flags ? bit(RAX) : 0) | (g->copied ? 0 : g->in->clobbers | bit(RSP));
    g->kept = changed & g->live & overwritten;
    g->saved = changed & g->live & ~overwritten;
}
