/* jumptable.c: the tables behind the indirect jumps that compilers make of switch statements.
 *
 * Seen backwards from the jump, the target is an entry of a table, or a constant plus a smaller entry, which may be shifted. Registers are
 * followed to their definitions until the table's address is a constant and what remains is an index. These two are
 * exact, or there is no table: the index comes to the jump on one straight way, the address is the same on all ways.
 *
 * How many entries there are follows from the comparison that guards the jump, or else from the width of the index.
 * This may turn out too many or too few without harm, as lifted code that meets another index leaves the function like
 * any computed jump; so it is found by what compilers do, not by proof. Without a bound there is no table.
 */
#include "lift/jumptable.h"

enum {
    MAX_ENTRIES = 4096,
    MAX_DEFINITIONS = 64,
    MAX_STEPS = 1 << 16, /* back from a jump: code may be hostile */
    MAX_BOUND_STEPS = 1 << 13,
    MAX_JOINS = 2,  /* in search of a comparison */
    MAX_DEPTH = 16, /* of additions that make a constant */
};

/* ----------------------------------------------------------------------------------------------------- looking back */

typedef struct Walk {
    const CodeView *view;
    u32 steps;   /* left */
    bool unsure; /* a bound does not hold on all ways, or for another value than the one that is meant */
} Walk;

static const Insn *way_in(Walk *w, const Insn *in, u32 i) {
    if (!w->steps)
        return NULL;
    w->steps--;
    return w->view->before(w->view, in, i);
}

/* The only instruction that can have come before `in`, or NULL. */
static const Insn *before(Walk *w, const Insn *in) {
    const Insn *one = way_in(w, in, 0), *other = way_in(w, in, 1);
    return w->steps && !other ? one : NULL;
}

/* By the C calling convention a callee keeps some registers; r may be a flag. */
static bool may_write(const Walk *w, const Insn *in, Reg r) {
    if (!in->row || in->calls_out)
        return true;
    return regset_has(&in->writes, r) || (in->flow == FLOW_CALL && !regset_has(&w->view->isa->abi.kept, r));
}

static Effect effect_of(const Walk *w, const Insn *in) {
    return in->row ? w->view->isa->effect(in) : (Effect){0};
}

/* The instructions that may have set a register last. */
typedef struct Definitions {
    const Insn *at[MAX_DEFINITIONS];
    u32 count; /* 0: there are too many, or the value can come from outside */
} Definitions;

typedef struct Search {
    VEC(const Insn *) work;
    Map64 seen;
} Search;

/* Goes on before `in` on all ways; false where there is none, or no room for what is found. */
static bool search_before(Walk *w, Reg r, const Insn *in, Search *s, Definitions *d) {
    const Insn *from = way_in(w, in, 0);
    bool known = from;
    for (u32 i = 0, seen; known && from; from = way_in(w, in, ++i)) {
        if (map64_get(&s->seen, from->pc, &seen))
            continue;
        map64_set(&s->seen, from->pc, 1);
        if (!may_write(w, from, r))
            VEC_PUSH(&s->work, from);
        else if (d->count < MAX_DEFINITIONS)
            d->at[d->count++] = from;
        else
            known = false;
    }
    return known && w->steps;
}

/* The instruction that set r last before *at, on the only way there; else NULL, and *at becomes where ways meet. */
static const Insn *definition_on_way(Walk *w, Reg r, const Insn **at) {
    for (const Insn *in; (in = before(w, *at)); *at = in)
        if (may_write(w, in, r))
            return in;
    return NULL;
}

static Definitions definitions(Walk *w, Reg r, const Insn *at) {
    const Insn *only = definition_on_way(w, r, &at);
    if (only)
        return (Definitions){{only}, 1};
    Definitions d = {0};
    Search s = {0};
    bool known = true;
    VEC_PUSH(&s.work, at);
    while (known && s.work.len)
        known = search_before(w, r, s.work.at[--s.work.len], &s, &d);
    VEC_FREE(&s.work);
    map64_free(&s.seen);
    return known ? d : (Definitions){0};
}

/* The instruction that set r last before `at`, the same on all ways; else NULL. */
static const Insn *definition(Walk *w, Reg r, const Insn *at) {
    Definitions d = definitions(w, r, at);
    return d.count == 1 ? d.at[0] : NULL;
}

/* Does it set all of r? */
static bool sets(const Effect *e, Reg r) {
    return e->kind != EFFECT_OTHER && e->kind != EFFECT_STORE && e->kind != EFFECT_COMPARE && e->to == r &&
           e->bits >= 32;
}

static bool is_plain(const Operand *op) {
    return op->kind == OPERAND_MEM && !op->seg && op->addr_bits == 64;
}

/* -------------------------------------------------------------------------------------------------------- constants */

static u64 truncated(u64 value, u32 bits) {
    return bits < 64 ? value & (((u64)1 << bits) - 1) : value;
}

/* What is left in a register by a result of so many bits. */
static u64 extended(u64 value, const Effect *e) {
    u64 low = truncated(value, e->bits), sign = (u64)1 << (e->bits - 1);
    return e->is_signed && low & sign ? low | ~(sign - 1) : low;
}

/* What `in` makes of constants: one, or one plus another. The same whichever instruction set r last before `at`. */
static bool constant_at(Walk *w, Reg r, const Insn *at, u32 depth, u64 *value) {
    Definitions d = definitions(w, r, at);
    for (u32 i = 0; i < d.count; i++) {
        Effect e = effect_of(w, d.at[i]);
        u64 v = 0;
        bool known =
            e.kind == EFFECT_CONSTANT || (e.kind == EFFECT_ADD && depth && constant_at(w, e.a, d.at[i], depth - 1, &v));
        v = extended(v + (u64)e.value, &e);
        if (!known || !sets(&e, r) || (i && v != *value))
            return false;
        *value = v;
    }
    return d.count;
}

static bool constant(Walk *w, Reg r, const Insn *at, u64 *value) {
    return constant_at(w, r, at, MAX_DEPTH, value);
}

/* ------------------------------------------------------------------------------------------------- the table's form */

/* target = base + (entry[index] << entry_shift), the entry being 8 bytes, or fewer with or without sign. */
typedef struct Form {
    u64 base, start;
    u32 entry_bytes, entry_shift;
    bool entry_signed;
    const Insn *at; /* where the index is read */
    Reg index;
    u32 index_bits;
} Form;

/* base + (index << shift) + disp, where both can be REG_NONE. */
typedef struct Address {
    Reg base, index;
    u32 index_bits, shift;
    i64 disp;
} Address;

/* What sets all 64 bits of r before `at`, on the only way there; EFFECT_OTHER: nobody, or something else. */
static Effect setter(Walk *w, Reg r, const Insn *at, const Insn **in) {
    *in = definition_on_way(w, r, &at);
    Effect e = *in ? effect_of(w, *in) : (Effect){0};
    return sets(&e, r) && e.bits == 64 ? e : (Effect){0};
}

/* (r << 32) >> (32 - shift) is the low half of r, shifted. */
static bool match_shift_pair(Walk *w, const Effect *down, const Insn *at, Form *f) {
    Effect up = setter(w, down->a, at, &f->at);
    f->index = up.a;
    f->index_bits = 32;
    return up.kind == EFFECT_SHIFT_LEFT && up.shift == 32 && up.shift > down->shift &&
           1u << (up.shift - down->shift) == f->entry_bytes;
}

/* r before `at` as a register times the size of an entry. */
static bool match_scaled_index(Walk *w, Reg r, const Insn *at, Form *f) {
    Effect e = setter(w, r, at, &f->at);
    if (e.kind == EFFECT_SHIFT_RIGHT)
        return match_shift_pair(w, &e, f->at, f);
    f->index_bits = 64;
    if (e.kind == EFFECT_SHIFT_LEFT) {
        f->index = e.a;
        return (u64)1 << e.shift == f->entry_bytes;
    }
    f->index = e.b;
    f->index_bits = e.from_bits;
    f->start += (u64)e.value;
    return e.kind == EFFECT_SUM && e.a == REG_NONE && 1u << e.shift == f->entry_bytes;
}

/* One register holds the table's address, the other the scaled index. */
static bool match_unscaled(Walk *w, Reg base, Reg offset, const Insn *at, const Form *before, Form *f) {
    u64 start;
    *f = *before;
    if (!constant(w, base, at, &start))
        return false;
    f->start += start;
    return match_scaled_index(w, offset, at, f);
}

static bool match_sum_of(Walk *w, const Address *a, const Insn *at, Form *f) {
    f->start += (u64)a->disp;
    if (1u << a->shift == f->entry_bytes) {
        u64 start = 0;
        f->at = at;
        f->index = a->index;
        f->index_bits = a->index_bits;
        bool known = a->base == REG_NONE || constant(w, a->base, at, &start);
        f->start += start;
        return known;
    }
    if (a->shift || a->base == REG_NONE || a->index_bits != 64)
        return false;
    Form before = *f;
    return match_unscaled(w, a->base, a->index, at, &before, f) || match_unscaled(w, a->index, a->base, at, &before, f);
}

/* Additions of constants are followed back to the sum. */
static bool match_address(Walk *w, const Operand *mem, const Insn *at, Form *f) {
    if (!is_plain(mem) || mem->base == REG_PC)
        return false;
    u32 index_bits = mem->index_bits ? mem->index_bits : 64;
    Address a = {mem->base, mem->index, index_bits, (u32)__builtin_ctz(mem->scale), mem->disp};
    for (u32 depth = 0; a.index == REG_NONE && depth < MAX_DEPTH; depth++) {
        if (a.base == REG_NONE)
            return false;
        Effect e = setter(w, a.base, at, &at);
        if (e.kind != EFFECT_SUM && e.kind != EFFECT_ADD)
            return false;
        a.base = e.a;
        a.disp += e.value;
        if (e.kind == EFFECT_SUM) {
            a.index = e.b;
            a.index_bits = e.from_bits;
            a.shift = e.shift;
        }
    }
    return a.index != REG_NONE && match_sum_of(w, &a, at, f);
}

/* Loaded by `in`. */
static bool match_load(Walk *w, const Effect *e, const Insn *in, bool extended, Form *f) {
    bool wide = e->from_bits == 64;
    f->entry_bytes = e->from_bits / 8;
    f->entry_signed = extended || e->is_signed;
    return e->kind == EFFECT_LOAD && !(wide && extended) && match_address(w, e->mem, in, f);
}

/* An address itself has at least 4 bytes. */
static bool match_load_of_target(Walk *w, const Effect *e, const Insn *in, Form *f) {
    return match_load(w, e, in, false, f) && f->entry_bytes >= 4;
}

static bool is_copy(const Effect *e) {
    return e->kind == EFFECT_ADD && e->bits == 64 && !e->value;
}

/* r before `at` is an entry of a table. */
static bool match_entry(Walk *w, Reg r, const Insn *at, Form *f) {
    const Insn *in = definition_on_way(w, r, &at);
    Effect e = in ? effect_of(w, in) : (Effect){0};
    bool is_extended = false;
    while (sets(&e, r) &&
           (is_copy(&e) || (e.kind == EFFECT_EXTEND && e.from_bits == 32 && e.is_signed && !is_extended))) {
        is_extended |= e.kind == EFFECT_EXTEND;
        at = in;
        r = e.a;
        in = definition_on_way(w, r, &at);
        e = in ? effect_of(w, in) : (Effect){0};
    }
    return in && sets(&e, r) && match_load(w, &e, in, is_extended, f);
}

/* base + (entry << shift), of whose entry the low bits count. */
static bool match_sum(Walk *w, Reg base, Reg entry, const Effect *sum, const Insn *at, Form *f) {
    *f = (Form){0};
    if (!constant(w, base, at, &f->base) || !match_entry(w, entry, at, f) || sum->from_bits < 8 * f->entry_bytes)
        return false;
    f->entry_shift = sum->shift;
    f->entry_signed |= sum->is_signed && sum->from_bits == 8 * f->entry_bytes;
    return true;
}

static bool match_jump(Walk *w, const Insn *jump, Form *f) {
    Effect to = effect_of(w, jump);
    *f = (Form){0};
    if (to.kind == EFFECT_LOAD)
        return match_load_of_target(w, &to, jump, f);
    if (to.kind != EFFECT_ADD || to.value || to.a == REG_NONE)
        return false;
    const Insn *in;
    Effect e = setter(w, to.a, jump, &in);
    if (e.kind == EFFECT_SUM && !e.value && e.a != REG_NONE) {
        bool either = !e.shift && e.from_bits == 64;
        return match_sum(w, e.a, e.b, &e, in, f) || (either && match_sum(w, e.b, e.a, &e, in, f));
    }
    return match_entry(w, to.a, jump, f) && f->entry_bytes >= 4;
}

/* -------------------------------------------------------------------------------------------------------- the bound */

/* A value by its origin, to be compared with others: what `def` left in reg or found in mem, plus bias. Without `def`,
 * what reg held where ways meet before `top`. */
typedef struct Origin {
    const Insn *def;
    const Insn *top;
    const Operand *mem;
    Reg reg;
    i64 bias;
    u64 max; /* of the value without bias */
} Origin;

static void limit(Origin *o, u64 max) {
    if (max < o->max)
        o->max = max;
}

/* What is known of a value that was made by o->def and is no copy of another. */
static void finish_origin(Walk *w, Origin *o) {
    Effect e = o->def ? effect_of(w, o->def) : (Effect){0};
    if (e.to != o->reg)
        return;
    if (e.kind == EFFECT_AND)
        limit(o, truncated((u64)e.value, e.bits));
    if (e.kind == EFFECT_SHIFT_RIGHT)
        limit(o, truncated(~(u64)0, e.bits) >> e.shift);
    if (e.kind == EFFECT_LOAD)
        o->mem = e.mem;
    if (e.kind == EFFECT_LOAD && !e.is_signed && e.bits >= 32)
        limit(o, truncated(~(u64)0, e.from_bits));
}

/* Shifted up and down again: the low bits. False, and *e as it was, if it is not that. */
static bool is_extension(Walk *w, Origin *o, Effect *e) {
    const Insn *in = e->kind == EFFECT_SHIFT_RIGHT ? definition(w, e->a, o->def) : NULL;
    Effect up = in ? effect_of(w, in) : (Effect){0};
    if (up.kind != EFFECT_SHIFT_LEFT || up.shift != e->shift || up.bits != 64 || e->bits != 64)
        return false;
    *e = (Effect){.kind = EFFECT_EXTEND, .bits = 64, .from_bits = (u8)(64 - up.shift), .to = e->to, .a = up.a};
    o->def = in;
    return true;
}

/* From a definition to the value it was made of; false if that is not one plus a constant. Widening keeps values that an
 * unsigned comparison has bounded, with or without sign. */
static bool follow(Walk *w, Origin *o) {
    Effect e = effect_of(w, o->def);
    if (!sets(&e, o->reg) || (e.kind != EFFECT_EXTEND && e.kind != EFFECT_ADD && !is_extension(w, o, &e)))
        return false;
    if (e.kind == EFFECT_EXTEND)
        limit(o, truncated(~(u64)0, e.from_bits));
    o->reg = e.a;
    o->bias += e.value;
    return true;
}

static bool same_place(const Operand *a, const Operand *b) {
    return a->base == b->base && a->index == b->index && a->scale == b->scale && a->disp == b->disp &&
           a->seg == b->seg && a->index_bits == b->index_bits && a->index_signed == b->index_signed;
}

static bool stores(Walk *w, const Insn *in, const Operand *mem, Reg *from) {
    Effect e = effect_of(w, in);
    *from = e.a;
    return e.kind == EFFECT_STORE && same_place(e.mem, mem);
}

/* From what was loaded to the register that was stored there before. */
static bool follow_store(Walk *w, Origin *o) {
    Reg from = REG_NONE;
    const Insn *in = before(w, o->def);
    while (in && !stores(w, in, o->mem, &from) && !may_write(w, in, o->mem->base))
        in = before(w, in);
    if (!in || !stores(w, in, o->mem, &from) || from == REG_NONE)
        return false;
    o->reg = from;
    o->def = definition(w, o->reg, in);
    o->top = in;
    o->mem = NULL;
    return true;
}

/* Compilers spill to places relative to a register. */
static bool is_spill(const Operand *mem) {
    return mem && mem->base < REG_PC;
}

static void find_origin(Walk *w, Origin *o) {
    do {
        while (o->def && follow(w, o)) {
            o->top = o->def;
            o->def = definition(w, o->reg, o->def);
        }
        finish_origin(w, o);
    } while (is_spill(o->mem) && follow_store(w, o));
}

static Origin origin_before(Walk *w, Reg r, const Insn *in) {
    Origin o = {.def = definition(w, r, in), .top = in, .reg = r, .max = UINT64_MAX};
    find_origin(w, &o);
    return o;
}

/* The same value where only `in` can have come before. */
static Origin origin_after(Walk *w, const Origin *unknown, const Insn *in) {
    Origin o = *unknown;
    o.def = may_write(w, in, o.reg) ? in : definition(w, o.reg, in);
    o.top = in;
    find_origin(w, &o);
    return o;
}

static bool same_register(Walk *w, Reg r, const Insn *a, const Insn *b) {
    return r >= REG_PC || definition(w, r, a) == definition(w, r, b);
}

/* A store in between could change it; but then no compiler would load it again for a jump that it has guarded. */
static bool same_memory(Walk *w, const Origin *a, const Origin *b) {
    return a->mem && b->mem && same_place(a->mem, b->mem) && same_register(w, a->mem->base, a->def, b->def) &&
           same_register(w, a->mem->index, a->def, b->def);
}

static bool same_origin(Walk *w, const Origin *a, const Origin *b) {
    return (a->def == b->def && a->reg == b->reg) || same_memory(w, a, b);
}

static Pred inverse(Pred p) {
    switch (p) {
    case EQ:
        return NE;
    case NE:
        return EQ;
    case UGT:
        return ULE;
    case UGE:
        return ULT;
    case ULT:
        return UGE;
    case ULE:
        return UGT;
    case SGT:
        return SLE;
    case SGE:
        return SLT;
    case SLT:
        return SGE;
    case SLE:
        return SGT;
    }
    CHECK(false, "a comparison of unknown kind");
}

/* The same with the operands exchanged. */
static Pred mirrored(Pred p) {
    switch (p) {
    case EQ:
    case NE:
        return p;
    case UGT:
        return ULT;
    case UGE:
        return ULE;
    case ULT:
        return UGT;
    case ULE:
        return UGE;
    case SGT:
        return SLT;
    case SGE:
        return SLE;
    case SLT:
        return SGT;
    case SLE:
        return SGE;
    }
    CHECK(false, "a comparison of unknown kind");
}

/* The largest value of so many bits of which p holds, compared with n. */
static bool largest(Pred p, u64 n, u32 bits, u64 *max) {
    switch (p) {
    case ULE:
    case SLE:
        *max = n;
        return true;
    case ULT:
    case SLT:
        *max = n - 1;
        return true;
    case UGT:
    case UGE:
        *max = truncated(~(u64)0, bits);
        return true;
    default:
        return false;
    }
}

/* A value compared with a constant. */
typedef struct Comparison {
    Origin value;
    u64 n;
    u32 bits;
    bool mirrored; /* the constant comes first */
} Comparison;

static bool is_constant(Walk *w, const Operand *op, const Insn *at, u64 *value) {
    *value = (u64)op->disp;
    return op->kind == OPERAND_IMM || (op->kind == OPERAND_REG && constant(w, op->no, at, value));
}

static bool compared(Walk *w, const Insn *cmp, Comparison *c) {
    Effect e = effect_of(w, cmp);
    if (!e.left)
        return false;
    const Operand *value = e.left;
    c->bits = e.bits;
    c->mirrored = false;
    if (!is_constant(w, e.right, cmp, &c->n)) {
        c->mirrored = true;
        value = e.right;
        if (!is_constant(w, e.left, cmp, &c->n))
            return false;
    }
    c->n = truncated(c->n, c->bits);
    if (value->kind == OPERAND_MEM) {
        c->value = (Origin){.def = cmp, .mem = value, .reg = REG_NONE};
        if (is_spill(value) && follow_store(w, &c->value))
            find_origin(w, &c->value);
        return true;
    }
    c->value = origin_before(w, value->no, cmp);
    return value->kind == OPERAND_REG && !value->high;
}

/* The largest index with which `branch` leads to `next`. */
static bool bound_by_branch(Walk *w, const Origin *index, const Insn *branch, const Insn *next, u64 *max) {
    bool taken = branch->target == next->pc;
    Reg flags;
    Pred p;
    Comparison c;
    if (taken == (insn_end(branch) == next->pc) || !branch->row || !w->view->isa->condition(branch, &flags, &p))
        return false;
    const Insn *cmp = flags == REG_NONE ? branch : definition(w, flags, branch);
    if (!cmp || !compared(w, cmp, &c) || !same_origin(w, index, &c.value))
        return false;
    p = taken ? p : inverse(p);
    if (!largest(c.mirrored ? mirrored(p) : p, c.n, c.bits, max))
        return false;
    *max = truncated(*max + (u64)(index->bias - c.value.bias), c.bits);
    return *max < MAX_ENTRIES;
}

static bool may_store(const Walk *w, const Insn *in) {
    Effect e = effect_of(w, in);
    return in->flow != FLOW_BRANCH && in->flow != FLOW_JUMP && (e.kind == EFFECT_OTHER || e.kind == EFFECT_STORE);
}

/* Of a value that comes to `next` from `in`: by its width, or by a comparison on the way. */
static bool bound_on_way(Walk *w, const Origin *o, const Insn *in, const Insn *next, bool by_width, u64 *max) {
    *max = o->max + (u64)o->bias;
    if (by_width)
        return o->max < MAX_ENTRIES && *max < MAX_ENTRIES;
    bool behind = false; /* the value is made by now: what is compared further up is an older one, or other memory */
    for (; in; next = in, in = before(w, in)) {
        if (in->flow == FLOW_BRANCH && bound_by_branch(w, o, in, next, max)) {
            w->unsure |= behind;
            return true;
        }
        behind |= o->mem ? in != o->def && may_store(w, in) : in == o->def;
    }
    return false;
}

/* Where the only way to `in` begins. */
static const Insn *head(Walk *w, const Insn *in) {
    for (const Insn *b; (b = before(w, in));)
        in = b;
    return in;
}

/* Is it loaded from a table of bytes? */
static bool match_lookup(Walk *w, const Origin *o, Form *f) {
    Effect e = o->mem ? effect_of(w, o->def) : (Effect){0};
    *f = (Form){.entry_bytes = 1};
    return e.kind == EFFECT_LOAD && e.bits >= 32 && e.from_bits == 8 && !e.is_signed &&
           match_address(w, o->mem, o->def, f);
}

static bool largest_byte(Walk *w, const Form *f, u64 last, u64 *max) {
    u8 bytes[MAX_ENTRIES];
    *max = 0;
    for (size_t i = 0, n = w->view->read(w->view, f->start, bytes, last + 1); i < n; i++)
        *max = bytes[i] > *max ? bytes[i] : *max;
    return *max;
}

/* The largest value of o before `at`, of those ways there that bound it: where compilers know a value, they jump around
 * its comparison. */
static bool find_bound(Walk *w, const Origin *o, const Insn *at, bool by_width, u32 depth, u64 *max) {
    bool found = false;
    const Insn *in;
    *max = 0;
    for (u32 i = 0; (in = way_in(w, at, i)); i++) {
        u64 n;
        Form f;
        Origin p = o->def ? *o : origin_after(w, o, in);
        bool bounded = bound_on_way(w, &p, in, at, by_width, &n);
        if (!bounded && depth && match_lookup(w, &p, &f))
            bounded = find_bound(w, &(Origin){.reg = f.index, .max = UINT64_MAX}, f.at, by_width, depth - 1, &n) &&
                      largest_byte(w, &f, n, &n);
        if (!bounded && depth)
            bounded = find_bound(w, &p, head(w, p.def ? in : p.top), by_width, depth - 1, &n);
        if (bounded && n > *max)
            *max = n;
        found |= bounded;
        w->unsure |= !bounded;
    }
    return found;
}

/* ------------------------------------------------------------------------------------------------------ the entries */

static u64 entry_at(const Form *f, const u8 *bytes, size_t i) {
    u64 entry = 0;
    u32 unused = 64 - 8 * f->entry_bytes;
    memcpy(&entry, bytes + i * f->entry_bytes, f->entry_bytes);
    if (f->entry_signed)
        entry = (u64)((i64)(entry << unused) >> unused);
    return f->base + (entry << f->entry_shift);
}

static bool read_entries(const CodeView *v, const Form *f, size_t count, Arena *arena, JumpTable *out) {
    u8 bytes[MAX_ENTRIES * 8];
    size_t size = count * f->entry_bytes;
    if (v->read(v, f->start, bytes, size) != size)
        return false;
    *out = (JumpTable){.load_pc = f->at->pc,
                       .index = f->index,
                       .index_bits = f->index_bits,
                       .start = f->start,
                       .end = f->start + size};
    out->count = count;
    out->targets = ARENA_ARRAY(arena, u64, count);
    for (size_t i = 0; i < count; i++)
        out->targets[i] = entry_at(f, bytes, i);
    return true;
}

/* A width says little: if there are fewer entries, what follows them is likely to lead nowhere. */
static bool all_lead_to_code(const CodeView *v, const JumpTable *t) {
    for (size_t i = 0; i < t->count; i++) {
        u8 bytes[16];
        Insn in = {.pc = t->targets[i]};
        size_t size = v->read(v, in.pc, bytes, sizeof(bytes));
        if (!size || v->isa->decode(bytes, size, in.pc, &in) != LATHE_OK)
            return false;
    }
    return true;
}

/* Where it is known what can be an entry, the table ends before the first that is none, and needs no bound. */
static u64 count_entries(const CodeView *v, const Form *f, u64 most) {
    u64 count = 0;
    for (u8 bytes[8]; count < most; count++) {
        u64 at = f->start + count * f->entry_bytes;
        if (v->read(v, at, bytes, f->entry_bytes) != f->entry_bytes || !v->is_entry(v, at, entry_at(f, bytes, 0)))
            break;
    }
    return count;
}

static bool find_by_entries(const CodeView *v, const Form *f, u64 most, Arena *arena, JumpTable *out) {
    enum { LEAST = 2 };
    u64 count = count_entries(v, f, most);
    return count >= LEAST && read_entries(v, f, count, arena, out);
}

bool jumptable_find(const CodeView *v, const Insn *jump, Arena *arena, JumpTable *out) {
    Walk w = {v, MAX_STEPS, false};
    Form f;
    u64 max;
    if (!jump->row || !match_jump(&w, jump, &f))
        return false;
    Origin index = {.reg = f.index, .max = UINT64_MAX};
    w.steps = MAX_BOUND_STEPS;
    bool compared = find_bound(&w, &index, f.at, false, MAX_JOINS, &max);
    if (!compared) {
        w = (Walk){v, MAX_BOUND_STEPS, false};
        bool narrow = find_bound(&w, &index, f.at, true, MAX_JOINS, &max);
        if (v->is_entry)
            return find_by_entries(v, &f, narrow ? max + 1 : MAX_ENTRIES, arena, out);
        if (!narrow)
            return false;
    }
    if (!read_entries(v, &f, max + 1, arena, out))
        return false;
    out->sure = !w.unsure;
    return compared || all_lead_to_code(v, out);
}
