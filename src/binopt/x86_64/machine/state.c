/* state.c: see state.h. */
#include "binopt/x86_64/machine/state.h"

static size_t size_of(const State *s) {
    return offsetof(State, slot) + s->slot_count * sizeof(Slot);
}

void state_copy(State *to, const State *from) {
    memcpy(to, from, size_of(from));
}

bool state_equal(const State *a, const State *b) {
    return a->slot_count == b->slot_count && !memcmp(a, b, size_of(a));
}

static bool is_based(Value v) {
    return v.kind == VALUE_BASED;
}

static u32 skip_based(const State *s, u32 i) {
    while (i < s->slot_count && is_based(s->slot[i].value))
        i++;
    return i;
}

bool state_same_numbers(const State *a, const State *b) {
    for (u32 r = 0; r < GP_COUNT; r++) {
        bool x = a->gp[r].kind && !is_based(a->gp[r]), y = b->gp[r].kind && !is_based(b->gp[r]);
        if (x != y || (x && memcmp(&a->gp[r], &b->gp[r], sizeof(Value))))
            return false;
    }
    size_t from = offsetof(State, vec), to = offsetof(State, slot_count);
    if (memcmp((const u8 *)a + from, (const u8 *)b + from, to - from))
        return false;
    u32 i = skip_based(a, 0), k = skip_based(b, 0);
    while (i < a->slot_count && k < b->slot_count && !memcmp(&a->slot[i], &b->slot[k], sizeof(Slot)))
        i = skip_based(a, i + 1), k = skip_based(b, k + 1);
    return i == a->slot_count && k == b->slot_count;
}

/* --------------------------------------------------------------------------------------------------------------- slots */

/* The index at which the slot is, or would be. */
static u32 find(const State *s, i64 off) {
    u32 i = 0;
    while (i < s->slot_count && s->slot[i].off < off)
        i++;
    return i;
}

static bool has(const State *s, u32 i, i64 off) {
    return i < s->slot_count && s->slot[i].off == off;
}

static void drop(State *s, u32 i) {
    memmove(&s->slot[i], &s->slot[i + 1], (s->slot_count - i - 1) * sizeof(Slot));
    s->slot_count--;
}

/* The slot at an offset, which is made if necessary; NULL if there are too many. */
static Slot *take(State *s, i64 off) {
    u32 i = find(s, off);
    if (has(s, i, off))
        return &s->slot[i];
    if (s->slot_count == MAX_SLOTS)
        return NULL;
    memmove(&s->slot[i + 1], &s->slot[i], (s->slot_count - i) * sizeof(Slot));
    s->slot_count++;
    s->slot[i] = (Slot){.off = off};
    return &s->slot[i];
}

static i64 slot_at(i64 off) {
    return off & ~(i64)(SLOT_BYTES - 1);
}

bool state_load(const State *s, i64 off, u32 size, u8 *bytes) {
    for (u32 done = 0; done < size; done++) {
        i64 at = slot_at(off + done);
        u32 i = find(s, at), byte = (u32)(off + done - at);
        if (!has(s, i, at) || s->slot[i].value.kind != VALUE_CONST || !(s->slot[i].known >> byte & 1))
            return false;
        bytes[done] = (u8)(s->slot[i].value.v >> (8 * byte));
    }
    return true;
}

Value state_load_slot(const State *s, i64 off) {
    u32 i = find(s, off);
    if (off % SLOT_BYTES == 0 && has(s, i, off) && s->slot[i].known == 0xff)
        return s->slot[i].value;
    u8 bytes[SLOT_BYTES];
    if (!state_load(s, off, SLOT_BYTES, bytes))
        return (Value){0};
    u64 v;
    memcpy(&v, bytes, sizeof(v));
    return value_const(v);
}

void state_forget_stack(State *s, i64 from, i64 to) {
    for (u32 i = find(s, slot_at(from)); i < s->slot_count && s->slot[i].off < to;) {
        Slot *slot = &s->slot[i];
        u64 gone = 0xff, value = ~(u64)0;
        if (from > slot->off)
            gone &= 0xff << (from - slot->off), value &= ~(u64)0 << (8 * (from - slot->off));
        if (to < slot->off + SLOT_BYTES)
            gone &= 0xff >> (slot->off + SLOT_BYTES - to), value &= ~(u64)0 >> (8 * (slot->off + SLOT_BYTES - to));
        s->escaped |= gone != 0xff && slot->value.kind == VALUE_STACK; /* a part of the address is still there */
        slot->known &= ~gone;
        slot->value.v &= ~value;
        slot->value.nested = false;
        if (!slot->known || slot->value.kind != VALUE_CONST)
            drop(s, i);
        else
            i++;
    }
}

bool state_has_address(const State *s, i64 from, i64 to) {
    for (u32 i = find(s, slot_at(from)); i < s->slot_count && s->slot[i].off < to; i++)
        if (s->slot[i].value.kind == VALUE_STACK)
            return true;
    return false;
}

void state_forget_frame(State *s) {
    s->escaped |= state_has_address(s, INT64_MIN, INT64_MAX);
    s->slot_count = 0;
}

void state_store(State *s, i64 off, u32 size, const u8 *bytes) {
    state_forget_stack(s, off, off + size);
    for (u32 done = 0; done < size; done++) {
        i64 at = slot_at(off + done);
        u32 byte = (u32)(off + done - at);
        Slot *slot = take(s, at);
        if (!slot)
            return;
        slot->value.kind = VALUE_CONST;
        slot->known |= (u64)1 << byte;
        slot->value.v |= (u64)bytes[done] << (8 * byte);
    }
}

void state_store_slot(State *s, i64 off, Value v) {
    state_forget_stack(s, off, off + SLOT_BYTES);
    if (v.kind == VALUE_UNKNOWN)
        return;
    Slot *slot = off % SLOT_BYTES ? NULL : take(s, off);
    if (slot)
        *slot = (Slot){off, 0xff, v};
    else if (v.kind == VALUE_CONST)
        state_store(s, off, SLOT_BYTES, (const u8 *)&v.v);
    else
        s->escaped |= v.kind == VALUE_STACK;
}

/* ----------------------------------------------------------------------------------------------------------- registers */

void state_forget(State *s, Regs regs) {
    for (u32 r = 0; r < GP_COUNT; r++)
        if (regs & BIT(r))
            s->gp[r] = (Value){0};
    for (u32 i = 0; i < MAX_VEC; i++)
        if (regs & BIT(XMM0 + i) && s->vec_known >> i & 1) {
            s->vec_known &= (u16) ~(1u << i);
            memset(s->vec[i], 0, VEC_BYTES);
        }
    u8 flags = (u8)(regs >> CF);
    s->flags_known &= (u8)~flags;
    s->flags &= (u8)~flags;
}

void state_define(State *s, u8 reg, u64 pc) {
    for (u32 r = 0; r < GP_COUNT; r++)
        if (is_based(s->gp[r]) && s->gp[r].base == pc)
            s->gp[r] = (Value){0};
    for (u32 i = 0; i < s->slot_count;)
        if (is_based(s->slot[i].value) && s->slot[i].value.base == pc)
            drop(s, i);
        else
            i++;
    s->gp[reg] = (Value){.kind = VALUE_BASED, .base = pc};
}

bool state_knows(const State *s, Regs regs) {
    for (u32 r = 0; r < GP_COUNT; r++)
        if (regs & BIT(r) && s->gp[r].kind != VALUE_CONST)
            return false;
    u32 vec = (u32)(regs >> XMM0);
    u8 flags = (u8)(regs >> CF);
    return !(vec & ~(u32)s->vec_known) && !(flags & ~s->flags_known);
}

/* --------------------------------------------------------------------------------------------------------------- merging */

static bool merge_registers(State *a, const State *b) {
    Regs differ = 0;
    bool lost = false;
    for (u32 r = 0; r < GP_COUNT; r++)
        if (memcmp(&a->gp[r], &b->gp[r], sizeof(Value))) {
            lost |= a->gp[r].kind == VALUE_STACK || b->gp[r].kind == VALUE_STACK;
            differ |= a->gp[r].kind ? BIT(r) : 0;
        }
    for (u32 i = 0; i < MAX_VEC; i++)
        if (a->vec_known >> i & 1 && (!(b->vec_known >> i & 1) || memcmp(a->vec[i], b->vec[i], VEC_BYTES)))
            differ |= BIT(XMM0 + i);
    u8 flags = a->flags_known & (u8)(~b->flags_known | (a->flags ^ b->flags));
    differ |= (Regs)flags << CF;
    state_forget(a, differ);
    bool escapes = lost && !a->escaped;
    a->escaped |= lost;
    return differ != 0 || escapes;
}

static u64 spread(u64 known) {
    u64 mask = 0;
    for (u32 i = 0; i < SLOT_BYTES; i++)
        if (known >> i & 1)
            mask |= (u64)0xff << (8 * i);
    return mask;
}

static bool merge_slots(State *a, const State *b) {
    bool less = false;
    for (u32 i = 0; i < a->slot_count;) {
        Slot *x = &a->slot[i];
        u32 k = find(b, x->off);
        const Slot *y = has(b, k, x->off) ? &b->slot[k] : NULL;
        if (y && !memcmp(x, y, sizeof(*x))) {
            i++;
            continue;
        }
        less = true;
        u64 known = y ? x->known & y->known : 0;
        for (u32 n = 0; n < SLOT_BYTES; n++)
            if (known >> n & 1 && (u8)(x->value.v >> 8 * n) != (u8)(y->value.v >> 8 * n))
                known &= ~((u64)1 << n);
        if (x->value.kind == VALUE_STACK)
            a->escaped = true;
        if (!known || x->value.kind != VALUE_CONST || y->value.kind != VALUE_CONST) {
            drop(a, i);
            continue;
        }
        x->known = known;
        x->value = (Value){.v = x->value.v & spread(known), .kind = VALUE_CONST};
        i++;
    }
    return less;
}

/* True if `b` has an address of the frame that `a` does not have: it would no longer be followed. */
static bool loses_address(const State *a, const State *b) {
    for (u32 i = 0; i < b->slot_count; i++) {
        u32 k = find(a, b->slot[i].off);
        if (b->slot[i].value.kind == VALUE_STACK &&
            (!has(a, k, b->slot[i].off) || a->slot[k].value.kind != VALUE_STACK))
            return true;
    }
    return false;
}

bool state_merge(State *a, const State *b) {
    bool lost = loses_address(a, b) && !a->escaped;
    a->escaped |= lost;
    bool registers = merge_registers(a, b), slots = merge_slots(a, b), escapes = b->escaped && !a->escaped;
    a->escaped |= b->escaped;
    return registers || slots || escapes || lost;
}
