/* live.c: see live.h. An instruction that is not needed reads nothing. So at first nothing is taken to be needed, and
 * the blocks are visited until no more needed values are found. */
#include "binopt/x86_64/machine/live.h"

#include "binopt/config/results.h"

enum { WORDS = 8, SLOTS = 64 * WORDS };

typedef struct Live {
    Regs regs, indices; /* the registers that are read; those whose numbers become parts of addresses */
    u16 upper;          /* bit n: the upper half of vector n */
    u64 slots[WORDS];
} Live;

/* --------------------------------------------------------------------------------------------------------------- slots */

/* The number of the slot with the byte at an offset; -1: it is the caller's or too far down, and always counts as read. */
static i32 slot_number(i64 off) {
    i64 n = (-off + SLOT_BYTES - 1) / SLOT_BYTES - 1;
    return off < 0 && n < SLOTS ? (i32)n : -1;
}

static bool is_read(const Live *l, i64 off, u32 size) {
    for (i64 at = off; at < off + size;) {
        i32 n = slot_number(at);
        if (n < 0 || l->slots[n / 64] >> (n % 64) & 1)
            return true;
        at = -8 * (i64)(n + 1) + SLOT_BYTES;
    }
    return false;
}

static void read_slots(Live *l, i64 off, u32 size) {
    for (i64 at = off; at < off + size && at < 0;) {
        i32 n = slot_number(at);
        if (n >= 0)
            l->slots[n / 64] |= (u64)1 << (n % 64);
        at = n >= 0 ? -8 * (i64)(n + 1) + SLOT_BYTES : at + SLOT_BYTES;
    }
}

/* Marks the slots that are overwritten as a whole as not read. */
static void write_slots(Live *l, i64 off, u32 size) {
    i64 first = (off + SLOT_BYTES - 1) & ~(i64)(SLOT_BYTES - 1);
    for (i64 at = first; at + SLOT_BYTES <= off + size; at += SLOT_BYTES) {
        i32 n = slot_number(at);
        if (n >= 0)
            l->slots[n / 64] &= ~((u64)1 << (n % 64));
    }
}

static void read_all_slots(Live *l) {
    memset(l->slots, 0xff, sizeof(l->slots));
}

/* ---------------------------------------------------------------------------------------------------------- instructions */

/* Legacy vector instructions keep the upper halves, which may be read if there are VEX instructions. */
static Regs kept_partly(const MachineUnit *u, const OutInsn *o) {
    return o->kind == OUT_INSN && o->in->legacy_vector && u->newer ? ALL_VEC : 0;
}

static bool moves_stack(const OutInsn *o) {
    if (o->kind == OUT_ENTER || o->kind == OUT_RETURN)
        return true;
    return o->kind == OUT_INSN && (o->in->mnemonic == ZYDIS_MNEMONIC_PUSH || o->in->mnemonic == ZYDIS_MNEMONIC_POP) &&
           o->slot_bytes;
}

static bool is_pop(const OutInsn *o) {
    return o->kind == OUT_INSN && o->in->mnemonic == ZYDIS_MNEMONIC_POP && o->slot_bytes;
}

static u16 vectors(Regs regs) {
    return (u16)(regs >> XMM0);
}

/* The upper halves that are read before a needed instruction. */
static u16 upper_before(const MachineUnit *u, const OutInsn *o, u16 upper) {
    Halves halves = o->kind == OUT_INSN ? o->in->halves : HALVES_READ;
    if (live_is_constant(o) || live_is_turned(u, o))
        return upper & (u16)~vectors(o->writes);
    if (halves == HALVES_KEPT)
        return upper;
    u16 rest = upper & (u16)~vectors(o->kills);
    if (halves == HALVES_COPIED)
        return upper & vectors(o->writes) ? rest | vectors(o->reads) : rest;
    return rest | vectors(o->reads);
}

/* Computes what is read before an instruction from what is read after it. */
static void before(const MachineUnit *u, OutInsn *o, Live *l) {
    o->live = l->regs;
    o->upper = l->upper;
    o->frame_dead = o->store && !is_read(l, o->slot, o->slot_bytes);
    bool needed = o->effect || (o->writes & l->regs) || (o->store && !o->frame_dead);
    o->dead = !needed;
    if (!needed)
        return;
    l->upper = upper_before(u, o, l->upper);
    if (live_is_turned(u, o)) {
        l->regs = (l->regs & ~o->writes) | BIT(o->in->op[1].no);
        return;
    }
    if (live_is_product(o)) {
        l->regs = (l->regs & ~(o->kills | BIT(RDX))) | BIT(RAX);
        return;
    }
    if (live_is_constant(o)) {
        l->regs &= ~(o->writes & ~ALL_FLAGS & ~kept_partly(u, o));
        return;
    }
    if (moves_stack(o) && !o->effect) {
        bool value = is_pop(o) ? (l->regs & BIT(o->in->op[0].no)) && !o->result_count : o->store && !o->frame_dead;
        if (is_pop(o))
            l->regs &= ~BIT(o->in->op[0].no);
        if (is_pop(o) && value)
            read_slots(l, o->slot, o->slot_bytes);
        if (!is_pop(o) && value)
            write_slots(l, o->slot, o->slot_bytes);
        l->regs |= value ? o->reads : BIT(RSP);
        return;
    }
    bool turned = o->swaps && !(l->regs & o->writes & ALL_FLAGS);
    l->regs = (l->regs & ~(o->kills & ~kept_partly(u, o))) | (turned ? BIT(o->in->op[1].no) : o->reads);
    if (o->store)
        write_slots(l, o->slot, o->slot_bytes);
    if (o->load)
        read_slots(l, o->slot, o->slot_bytes);
    if (o->reads_frame && u->escaped)
        read_all_slots(l);
    for (u32 r = 0; o->frame && r < GP_COUNT; r++)
        if (o->frame->saved >> r & 1)
            read_slots(l, o->frame->slot[r], SLOT_BYTES);
}

/* --------------------------------------------------------------------------------------------------------------- indices */

/* Arithmetic by which an index becomes a part of an address. */
static bool leads_on(const MachineInsn *in) {
    switch (in->mnemonic) {
    case ZYDIS_MNEMONIC_ADD:
    case ZYDIS_MNEMONIC_SUB:
    case ZYDIS_MNEMONIC_IMUL:
    case ZYDIS_MNEMONIC_SHL:
    case ZYDIS_MNEMONIC_LEA:
    case ZYDIS_MNEMONIC_MOV:
        return true;
    default:
        return false;
    }
}

/* Goes back over an instruction that is needed, after l->regs was brought to before it. */
static void indices_before(OutInsn *o, Live *l) {
    Regs indices = l->indices & ~o->kills;
    o->is_index = (l->indices & o->writes & ALL_GP) != 0;
    if (o->kind == OUT_INSN && (o->in->mem.read || o->in->mem.write))
        indices |= o->in->address;
    if (o->kind == OUT_INSN && o->is_index && leads_on(o->in))
        indices |= o->reads;
    l->indices = indices & l->regs;
}

/* ---------------------------------------------------------------------------------------------------------------- blocks */

/* In the order of the bits of ResultRegs. */
static const u8 result_regs[] = {RAX, RDX, XMM0, XMM0 + 1};

/* Those of the registers in `unset` to which nothing in the block is written. */
static u8 unset_after(const MachineBlock *b, u8 unset) {
    for (u32 i = 0; i < b->out_count; i++)
        for (u32 k = 0; k < ARRAY_LEN(result_regs); k++)
            if (b->out[i].writes & BIT(result_regs[k]))
                unset &= (u8) ~(1u << k);
    return unset;
}

/* The registers to which nothing is written on some path to a return. */
static u8 unset_at_returns(MachineUnit *u) {
    u8 *before = ARENA_ARRAY(&u->arena, u8, u->blocks.len), at_returns = 0;
    before[0] = RESULTS_ALL;
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < u->blocks.len; i++) {
            const MachineBlock *b = &u->blocks.at[i];
            u8 unset = b->reached ? unset_after(b, before[i]) : 0;
            at_returns |= b->end == END_RETURN ? unset : 0;
            for (u32 k = 0; unset && k < 2; k++) {
                i32 next = graph_resolve(u, b->next[k]);
                changed |= next != NO_BLOCK && (unset & ~before[next]);
                if (next != NO_BLOCK)
                    before[next] |= unset;
            }
        }
    }
    return at_returns;
}

static Regs find_returned(MachineUnit *u) {
    u32 kept = results_kept(u->cfg, unset_at_returns(u), false);
    Regs regs = ABI_SAVED;
    for (u32 k = 0; k < ARRAY_LEN(result_regs); k++)
        regs |= kept >> k & 1 ? BIT(result_regs[k]) : 0;
    return regs;
}

static void add(Live *l, const MachineBlock *b) {
    l->regs |= b->live_in;
    l->indices |= b->indices_in;
    l->upper |= b->upper_in;
    for (u32 i = 0; i < WORDS; i++)
        l->slots[i] |= b->slots_in[i];
}

static Live after(const MachineUnit *u, const MachineBlock *b) {
    Live l = {0};
    switch ((EndKind)b->end) {
    case END_NONE:
    case END_STOP:
        break;
    case END_JUMP:
        add(&l, &u->blocks.at[graph_resolve(u, b->next[0])]);
        break;
    case END_BRANCH:
        add(&l, &u->blocks.at[graph_resolve(u, b->next[0])]);
        add(&l, &u->blocks.at[graph_resolve(u, b->next[1])]);
        l.regs |= b->last->reads;
        break;
    case END_RETURN:
        l.regs = u->returned;
        break;
    case END_LEAVE:
    case END_INDIRECT:
        l.regs = ALL_REGS;
        l.upper = 0xffff;
        read_all_slots(&l);
        break;
    }
    return l;
}

Regs live_at_end(const MachineUnit *u, const MachineBlock *b) {
    return after(u, b).regs;
}

/* Returns true if more is read than was known before. */
static bool run_block(const MachineUnit *u, MachineBlock *b) {
    Live l = after(u, b);
    for (u32 i = b->out_count; i-- > 0;) {
        before(u, &b->out[i], &l);
        if (!b->out[i].dead)
            indices_before(&b->out[i], &l);
    }
    if (l.regs == b->live_in && l.indices == b->indices_in && l.upper == b->upper_in &&
        !memcmp(l.slots, b->slots_in, sizeof(l.slots)))
        return false;
    b->live_in = l.regs;
    b->indices_in = l.indices;
    b->upper_in = l.upper;
    memcpy(b->slots_in, l.slots, sizeof(l.slots));
    return true;
}

void live_run(MachineUnit *u) {
    u->returned = find_returned(u);
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = u->blocks.len; i-- > 0;)
            if (u->blocks.at[i].reached)
                changed |= run_block(u, &u->blocks.at[i]);
    }
}

/* --------------------------------------------------------------------------------------------------------------- joining */

static void reach(MachineUnit *u, u32 *from) {
    VEC(i32) stack = {0};
    VEC_PUSH(&stack, 0);
    u->blocks.at[0].reached = true;
    while (stack.len) {
        const MachineBlock *b = &u->blocks.at[stack.at[--stack.len]];
        for (u32 k = 0; k < 2; k++) {
            i32 next = graph_resolve(u, b->next[k]);
            if (next == NO_BLOCK)
                continue;
            from[next]++;
            if (u->blocks.at[next].reached)
                continue;
            u->blocks.at[next].reached = true;
            VEC_PUSH(&stack, next);
        }
    }
    VEC_FREE(&stack);
}

/* The next block, if it follows only this one and nothing else follows this one; otherwise NO_BLOCK. */
static i32 follower(const MachineUnit *u, const u32 *from, const MachineBlock *b, i32 first) {
    i32 next = b->end == END_JUMP ? graph_resolve(u, b->next[0]) : NO_BLOCK;
    return next != NO_BLOCK && from[next] == 1 && next != first && next != 0 ? next : NO_BLOCK;
}

static void join(MachineUnit *u, const u32 *from, i32 first) {
    MachineBlock *a = &u->blocks.at[first], *last = a;
    u32 count = a->out_count;
    for (i32 next; (next = follower(u, from, last, first)) != NO_BLOCK;) {
        last = &u->blocks.at[next];
        count += last->out_count;
    }
    if (last == a)
        return;
    OutInsn *all = ARENA_ARRAY(&u->arena, OutInsn, count + 1);
    u32 done = 0, followed = 0;
    for (MachineBlock *b = a;; b = &u->blocks.at[follower(u, from, b, first)]) {
        if (b->out_count)
            memcpy(all + done, b->out, b->out_count * sizeof(OutInsn));
        done += b->out_count;
        followed += b->followed;
        b->reached = b == a;
        if (b == last)
            break;
    }
    a->out = all;
    a->out_count = count;
    a->followed = followed;
    a->end = last->end;
    a->last = last->last;
    a->target = last->target;
    memcpy(a->next, last->next, sizeof(a->next));
}

void live_join_blocks(MachineUnit *u) {
    u32 *from = ARENA_ARRAY(&u->arena, u32, u->blocks.len);
    reach(u, from);
    /* Joining starts at the first block of each chain: one that does not follow another in this way. */
    u8 *follows = ARENA_ARRAY(&u->arena, u8, u->blocks.len);
    for (size_t i = 0; i < u->blocks.len; i++) {
        i32 next = u->blocks.at[i].reached ? follower(u, from, &u->blocks.at[i], (i32)i) : NO_BLOCK;
        if (next != NO_BLOCK)
            follows[next] = 1;
    }
    for (size_t i = 0; i < u->blocks.len; i++)
        if (u->blocks.at[i].reached && !follows[i])
            join(u, from, (i32)i);
}
