/* jumptable.c: the tables behind the indirect jumps that compilers make of switch statements.
 *
 * Seen backwards from the jump, the target is an entry of a table, or a constant plus a 32-bit entry. Registers are
 * followed to their definitions until the table's address is a constant and what remains is an index. These two are
 * exact, or there is no table: the index comes to the jump on one straight way, the address is the same on all ways.
 *
 * How many entries there are follows from the comparison that guards the jump, or else from the width of the index.
 * This may turn out too many or too few without harm, as lifted code that meets another index leaves the function like
 * any computed jump; so it is found by what compilers do, not by proof. Without a bound there is no table.
 */
#include <Zydis/Zydis.h>

#include "isa/x86_64/x86_64.h"

enum {
    MAX_ENTRIES = 4096,
    MAX_DEFINITIONS = 16,
    MAX_STEPS = 1 << 16,       /* back from a jump: code may be hostile */
    MAX_BOUND_STEPS = 1 << 13,
    MAX_JOINS = 2,             /* in search of a comparison */
};

/* ----------------------------------------------------------------------------------------------------- looking back */

typedef struct Walk {
    const CodeView *view;
    u32 steps; /* left */
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

/* By the C calling convention; r may be a flag. */
static bool kept_by_calls(Reg r) {
    return r == RBX || r == RSP || r == RBP || (r >= R12 && r <= R15);
}

static bool may_write(const Insn *in, Reg r) {
    if (!in->row || in->calls_out)
        return true;
    return regset_has(&in->writes, r) || (in->flow == FLOW_CALL && !kept_by_calls(r));
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
        if (!may_write(from, r))
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
        if (may_write(in, r))
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

static bool is_gp(const Operand *op, u32 bits) {
    return op->kind == OPERAND_REG && op->cls == CLS_GP && !op->high && op->bits >= bits;
}

/* Does it set all of r by its first operand (32 bits clear the rest)? */
static bool sets(const Insn *in, Reg r) {
    return in->row && in->flow == FLOW_NEXT && is_gp(&in->op[0], 32) && in->op[0].no == r;
}

static bool is_plain(const Operand *op) {
    return op->kind == OPERAND_MEM && !op->seg && op->addr_bits == 64;
}

/* -------------------------------------------------------------------------------------------------------- constants */

static u64 truncated(u64 value, u32 bits) {
    return bits < 64 ? value & (((u64)1 << bits) - 1) : value;
}

/* Peels one addition of a constant off: what r is set to by `in` is *r as before it, plus the result. */
static bool peel_addition(const Insn *in, Reg *r, i64 *addend) {
    const Operand *from = &in->op[1];
    *addend = 0;
    switch (in->row) {
    case ZYDIS_MNEMONIC_MOV: *r = from->no; return is_gp(from, 32);
    case ZYDIS_MNEMONIC_ADD: *addend = from->disp; return from->kind == OPERAND_IMM;
    case ZYDIS_MNEMONIC_SUB: *addend = -from->disp; return from->kind == OPERAND_IMM;
    case ZYDIS_MNEMONIC_INC: *addend = 1; return true;
    case ZYDIS_MNEMONIC_DEC: *addend = -1; return true;
    case ZYDIS_MNEMONIC_LEA:
        *r = from->base;
        *addend = from->disp;
        return from->index == REG_NONE && from->base < REG_PC && from->addr_bits == 64;
    default: return false;
    }
}

static bool constant_here(const Insn *in, Reg r, u64 *value) {
    const Operand *from = &in->op[1];
    *value = truncated((u64)from->disp, in->op[0].bits);
    if (!sets(in, r))
        return false;
    if (in->row == ZYDIS_MNEMONIC_LEA)
        return from->base == REG_PC && from->index == REG_NONE;
    return in->row == ZYDIS_MNEMONIC_MOV && from->kind == OPERAND_IMM;
}

/* The same constant whichever of the definitions was the last. */
static bool same_constant(const Definitions *d, Reg r, u64 *value) {
    for (u32 i = 0; i < d->count; i++) {
        u64 other;
        if (!constant_here(d->at[i], r, &other) || (i && other != *value))
            return false;
        *value = other;
    }
    return d->count;
}

static bool constant(Walk *w, Reg r, const Insn *at, u64 *value) {
    u64 sum = 0;
    for (;;) {
        Definitions d = definitions(w, r, at);
        if (same_constant(&d, r, value))
            break;
        at = d.at[0];
        i64 addend;
        if (d.count != 1 || !sets(at, r) || at->op[0].bits != 64 || !peel_addition(at, &r, &addend))
            return false;
        sum += (u64)addend;
    }
    *value += sum;
    return true;
}

/* ------------------------------------------------------------------------------------------------- the table's form */

/* target = base + entry[index], the entry being 8 bytes, or 4 with or without sign. */
typedef struct Form {
    u64 base, start;
    u32 entry_bytes;
    bool entry_signed;
    const Insn *at; /* where the index is read */
    Reg index;
} Form;

/* What sets all 64 bits of r before `at`, on the only way there. */
static const Insn *setter(Walk *w, Reg r, const Insn *at) {
    const Insn *in = definition_on_way(w, r, &at);
    return in && sets(in, r) && in->op[0].bits == 64 ? in : NULL;
}

/* r before `at` as a register times the size of an entry. */
static bool match_scaled_index(Walk *w, Reg r, const Insn *at, Form *f) {
    f->at = setter(w, r, at);
    if (!f->at)
        return false;
    const Operand *by = &f->at->op[1];
    if (f->at->row == ZYDIS_MNEMONIC_SHL) {
        f->index = r;
        return by->kind == OPERAND_IMM && (u64)1 << (by->disp & 63) == f->entry_bytes;
    }
    f->index = by->index;
    f->start += (u64)by->disp;
    return f->at->row == ZYDIS_MNEMONIC_LEA && is_plain(by) && by->base == REG_NONE && by->index != REG_NONE &&
           by->scale == f->entry_bytes;
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

static bool match_address(Walk *w, const Operand *mem, const Insn *at, Form *f) {
    if (!is_plain(mem) || mem->base == REG_PC)
        return false;
    f->start += (u64)mem->disp;
    if (mem->index == REG_NONE) {
        const Insn *in = mem->base == REG_NONE ? NULL : setter(w, mem->base, at);
        return in && in->row == ZYDIS_MNEMONIC_LEA && match_address(w, &in->op[1], in, f);
    }
    if (mem->scale == f->entry_bytes) {
        u64 start = 0;
        f->at = at;
        f->index = mem->index;
        bool known = mem->base == REG_NONE || constant(w, mem->base, at, &start);
        f->start += start;
        return known;
    }
    if (mem->scale != 1 || mem->base == REG_NONE)
        return false;
    Form before = *f;
    return match_unscaled(w, mem->base, mem->index, at, &before, f) ||
           match_unscaled(w, mem->index, mem->base, at, &before, f);
}

/* r before `at` is an entry of a table. */
static bool match_entry(Walk *w, Reg r, const Insn *at, Form *f) {
    const Insn *in = definition_on_way(w, r, &at);
    while (in && sets(in, r) && in->row == ZYDIS_MNEMONIC_MOV && is_gp(&in->op[1], 64)) {
        at = in;
        r = in->op[1].no;
        in = definition_on_way(w, r, &at);
    }
    bool extended = in && in->row == ZYDIS_MNEMONIC_CDQE;
    if (extended) {
        at = in;
        in = definition_on_way(w, r, &at);
    }
    if (!in || !sets(in, r) || (in->row != ZYDIS_MNEMONIC_MOV && in->row != ZYDIS_MNEMONIC_MOVSXD))
        return false;
    bool wide = in->row == ZYDIS_MNEMONIC_MOV && in->op[0].bits == 64;
    f->entry_bytes = wide ? 8 : 4;
    f->entry_signed = extended || (in->row == ZYDIS_MNEMONIC_MOVSXD && in->op[0].bits == 64);
    return !(wide && extended) && match_address(w, &in->op[1], in, f);
}

static bool match_sum(Walk *w, Reg base, Reg entry, const Insn *at, Form *f) {
    *f = (Form){0};
    return constant(w, base, at, &f->base) && match_entry(w, entry, at, f);
}

/* The two registers whose sum `in` sets. */
static bool addends(const Insn *in, Reg *a, Reg *b) {
    const Operand *second = &in->op[1];
    if (in->row == ZYDIS_MNEMONIC_ADD) {
        *a = in->op[0].no;
        *b = second->no;
        return is_gp(second, 64);
    }
    *a = second->base;
    *b = second->index;
    return in->row == ZYDIS_MNEMONIC_LEA && is_plain(second) && !second->disp && second->scale == 1 && *a < REG_PC &&
           *b != REG_NONE;
}

static bool match_jump(Walk *w, const Insn *jump, Form *f) {
    *f = (Form){.entry_bytes = 8};
    const Operand *to = &jump->op[0];
    if (to->kind == OPERAND_MEM)
        return match_address(w, to, jump, f);
    if (!is_gp(to, 64))
        return false;
    const Insn *in = setter(w, to->no, jump);
    Reg a, b;
    if (in && addends(in, &a, &b))
        return match_sum(w, a, b, in, f) || match_sum(w, b, a, in, f);
    return match_entry(w, to->no, jump, f);
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

/* Widening keeps values that an unsigned comparison has bounded, with or without sign. */
static bool is_widening(const Insn *in) {
    return in->row == ZYDIS_MNEMONIC_MOVZX || in->row == ZYDIS_MNEMONIC_MOVSX || in->row == ZYDIS_MNEMONIC_MOVSXD;
}

/* What is known of a value that was made by o->def and is no copy of another. */
static void finish_origin(Origin *o) {
    const Insn *in = o->def;
    if (!in || !in->row || !is_gp(&in->op[0], 8) || in->op[0].no != o->reg)
        return;
    const Operand *by = &in->op[1];
    if (in->row == ZYDIS_MNEMONIC_AND && by->kind == OPERAND_IMM)
        limit(o, truncated((u64)by->disp, in->op[0].bits));
    if (in->row == ZYDIS_MNEMONIC_SHR && by->kind == OPERAND_IMM)
        limit(o, truncated(~(u64)0, in->op[0].bits) >> (by->disp & 63));
    if ((in->row == ZYDIS_MNEMONIC_MOV || is_widening(in)) && by->kind == OPERAND_MEM)
        o->mem = by;
}

/* From a definition to the value it was made of; false if that is not one plus a constant. */
static bool follow(Origin *o) {
    const Insn *in = o->def;
    if (in->row == ZYDIS_MNEMONIC_CDQE)
        return true;
    if (!sets(in, o->reg))
        return false;
    Reg r = o->reg;
    i64 addend = 0;
    if (is_widening(in)) {
        limit(o, truncated(~(u64)0, in->op[1].bits));
        r = in->op[1].no;
    }
    if (is_widening(in) ? !is_gp(&in->op[1], 8) : !peel_addition(in, &r, &addend))
        return false;
    o->reg = r;
    o->bias += addend;
    return true;
}

static bool same_place(const Operand *a, const Operand *b) {
    return a->base == b->base && a->index == b->index && a->scale == b->scale && a->disp == b->disp && a->seg == b->seg;
}

static bool stores(const Insn *in, const Operand *mem) {
    return in->row == ZYDIS_MNEMONIC_MOV && in->op[0].kind == OPERAND_MEM && same_place(&in->op[0], mem);
}

/* From what was loaded to the register that was stored there before. */
static bool follow_store(Walk *w, Origin *o) {
    const Insn *in = before(w, o->def);
    while (in && !stores(in, o->mem) && !may_write(in, o->mem->base))
        in = before(w, in);
    if (!in || !stores(in, o->mem) || !is_gp(&in->op[1], 8))
        return false;
    o->reg = in->op[1].no;
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
        while (o->def && follow(o)) {
            o->top = o->def;
            o->def = definition(w, o->reg, o->def);
        }
        finish_origin(o);
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
    o.def = may_write(in, o.reg) ? in : definition(w, o.reg, in);
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

/* The largest value of so many bits for which a comparison with n leads the way that was taken. */
static bool largest(u32 row, bool taken, u64 n, u32 bits, u64 *max) {
    switch (row) {
    case ZYDIS_MNEMONIC_JNBE:
    case ZYDIS_MNEMONIC_JBE: *max = n; break;
    case ZYDIS_MNEMONIC_JNB:
    case ZYDIS_MNEMONIC_JB: *max = n - 1; break;
    case ZYDIS_MNEMONIC_JNLE: *max = n; return !taken;
    case ZYDIS_MNEMONIC_JLE: *max = n; return taken;
    case ZYDIS_MNEMONIC_JNL: *max = n - 1; return !taken;
    case ZYDIS_MNEMONIC_JL: *max = n - 1; return taken;
    default: return false;
    }
    bool above = row == ZYDIS_MNEMONIC_JNBE || row == ZYDIS_MNEMONIC_JNB;
    if (above == taken)
        *max = truncated(~(u64)0, bits);
    return true;
}

static bool compared(Walk *w, const Insn *cmp, Origin *o) {
    const Operand *left = &cmp->op[0];
    if ((cmp->row != ZYDIS_MNEMONIC_CMP && cmp->row != ZYDIS_MNEMONIC_SUB) || cmp->op[1].kind != OPERAND_IMM)
        return false;
    if (left->kind == OPERAND_MEM) {
        *o = (Origin){.def = cmp, .mem = left, .reg = REG_NONE};
        if (is_spill(left) && follow_store(w, o))
            find_origin(w, o);
        return true;
    }
    *o = origin_before(w, left->no, cmp);
    return is_gp(left, 8);
}

/* The largest index with which `branch` leads to `next`. */
static bool bound_by_branch(Walk *w, const Origin *index, const Insn *branch, const Insn *next, u64 *max) {
    bool taken = branch->target == next->pc;
    const Insn *cmp = definition(w, ZF, branch);
    Origin left;
    if (taken == (insn_end(branch) == next->pc) || !cmp || !compared(w, cmp, &left) || !same_origin(w, index, &left))
        return false;
    u64 n = truncated(imm_value(cmp, 1), cmp->op[0].bits);
    if (!largest(branch->row, taken, n, cmp->op[0].bits, max))
        return false;
    *max = truncated(*max + (u64)(index->bias - left.bias), cmp->op[0].bits);
    return *max < MAX_ENTRIES;
}

/* Of a value that comes to `next` from `in`: by its width, or by a comparison on the way. */
static bool bound_on_way(Walk *w, const Origin *o, const Insn *in, const Insn *next, bool by_width, u64 *max) {
    *max = o->max + (u64)o->bias;
    if (by_width)
        return o->max < MAX_ENTRIES && *max < MAX_ENTRIES;
    for (; in; next = in, in = before(w, in))
        if (in->flow == FLOW_BRANCH && bound_by_branch(w, o, in, next, max))
            return true;
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
    *f = (Form){.entry_bytes = 1};
    return o->mem && o->mem->bits == 8 && o->def->row == ZYDIS_MNEMONIC_MOVZX && match_address(w, o->mem, o->def, f);
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
    }
    return found;
}

/* ------------------------------------------------------------------------------------------------------ the entries */

static u64 entry_at(const Form *f, const u8 *bytes, size_t i) {
    u64 wide;
    u32 narrow;
    if (f->entry_bytes == 8) {
        memcpy(&wide, bytes + i * 8, 8);
        return f->base + wide;
    }
    memcpy(&narrow, bytes + i * 4, 4);
    return f->base + (f->entry_signed ? (u64)(i64)(i32)narrow : narrow);
}

static bool read_entries(const CodeView *v, const Form *f, size_t count, Arena *arena, JumpTable *out) {
    u8 bytes[MAX_ENTRIES * 8];
    size_t size = count * f->entry_bytes;
    if (v->read(v, f->start, bytes, size) != size)
        return false;
    *out = (JumpTable){.load_pc = f->at->pc, .index = f->index, .start = f->start, .end = f->start + size};
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
        if (!size || x86_decode(bytes, size, in.pc, &in) != LATHE_OK)
            return false;
    }
    return true;
}

bool x86_jump_table(const CodeView *v, const Insn *jump, Arena *arena, JumpTable *out) {
    Walk w = {v, MAX_STEPS};
    Form f;
    u64 max;
    if (!jump->row || !match_jump(&w, jump, &f))
        return false;
    Origin index = {.reg = f.index, .max = UINT64_MAX};
    w.steps = MAX_BOUND_STEPS;
    bool compared = find_bound(&w, &index, f.at, false, MAX_JOINS, &max);
    w.steps = MAX_BOUND_STEPS;
    if (!compared && !find_bound(&w, &index, f.at, true, MAX_JOINS, &max))
        return false;
    return read_entries(v, &f, max + 1, arena, out) && (compared || all_lead_to_code(v, out));
}
