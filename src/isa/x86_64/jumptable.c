/* jumptable.c: the tables behind the indirect jumps that compilers make of switch statements.
 *
 * Seen backwards from the jump along the only way to it, the target is an entry of a table, or a constant plus a signed
 * 32-bit entry. Registers are followed to their definitions until the table's address is a constant and what remains is
 * an index. Those two are exact, or there is no table. How many entries there are follows from the comparison that guards
 * the jump, or from the width of the index; this may well be too many or too few, for lifted code that meets another
 * index leaves the function as with any computed jump. Without such a bound there is no table.
 */
#include <Zydis/Zydis.h>

#include "isa/x86_64/x86_64.h"

enum { MAX_ENTRIES = 4096, MAX_STEPS = 8192 };

/* ------------------------------------------------------------------------------------------------------ looking back */

typedef struct Walk {
    const CodeView *view;
    u32 steps; /* left: code may be hostile */
} Walk;

static const Insn *before(Walk *w, const Insn *in) {
    if (!w->steps)
        return NULL;
    w->steps--;
    return w->view->before(w->view, in);
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

/* The instruction that set r last before `at`, or NULL if it is not on the way. */
static const Insn *definition(Walk *w, Reg r, const Insn *at) {
    const Insn *in = before(w, at);
    while (in && !may_write(in, r))
        in = before(w, in);
    return in;
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

/* --------------------------------------------------------------------------------------------------------- constants */

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

static bool constant_here(const Insn *in, u64 *value) {
    const Operand *from = &in->op[1];
    *value = truncated((u64)from->disp, in->op[0].bits);
    if (in->row == ZYDIS_MNEMONIC_LEA)
        return from->base == REG_PC && from->index == REG_NONE;
    return in->row == ZYDIS_MNEMONIC_MOV && from->kind == OPERAND_IMM;
}

static bool constant(Walk *w, Reg r, const Insn *at, u64 *value) {
    u64 sum = 0;
    for (const Insn *in = definition(w, r, at); in && sets(in, r); in = definition(w, r, in)) {
        if (constant_here(in, value)) {
            *value += sum;
            return true;
        }
        i64 addend;
        if (in->op[0].bits != 64 || !peel_addition(in, &r, &addend))
            return false;
        sum += (u64)addend;
    }
    return false;
}

/* ---------------------------------------------------------------------------------------------------- the table's form */

/* target = base + entry[index], the entry being 8 bytes, or 4 with or without sign. */
typedef struct Form {
    u64 base, start;
    u32 entry_bytes;
    bool entry_signed;
    const Insn *at; /* where the index is read */
    Reg index;
} Form;

/* r before `at` as a register times the size of an entry. */
static bool match_scaled_index(Walk *w, Reg r, const Insn *at, Form *f) {
    const Insn *in = definition(w, r, at);
    if (!in || !sets(in, r) || in->op[0].bits != 64)
        return false;
    const Operand *by = &in->op[1];
    f->at = in;
    if (in->row == ZYDIS_MNEMONIC_SHL) {
        f->index = r;
        return by->kind == OPERAND_IMM && (u64)1 << (by->disp & 63) == f->entry_bytes;
    }
    f->index = by->index;
    f->start += (u64)by->disp;
    return in->row == ZYDIS_MNEMONIC_LEA && is_plain(by) && by->base == REG_NONE && by->index != REG_NONE &&
           by->scale == f->entry_bytes;
}

/* One register holds the table's address, the other the scaled index. */
static bool match_unscaled(Walk *w, Reg base, Reg offset, const Insn *at, Form *f) {
    u64 start;
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
        const Insn *in = mem->base == REG_NONE ? NULL : definition(w, mem->base, at);
        return in && sets(in, mem->base) && in->op[0].bits == 64 && in->row == ZYDIS_MNEMONIC_LEA &&
               match_address(w, &in->op[1], in, f);
    }
    if (mem->scale == f->entry_bytes) {
        u64 start = 0;
        if (mem->base != REG_NONE && !constant(w, mem->base, at, &start))
            return false;
        f->start += start;
        f->at = at;
        f->index = mem->index;
        return true;
    }
    if (mem->scale != 1 || mem->base == REG_NONE)
        return false;
    Form other = *f;
    return match_unscaled(w, mem->base, mem->index, at, f) ||
           (*f = other, match_unscaled(w, mem->index, mem->base, at, f));
}

/* r before `at` is an entry of a table. */
static bool match_entry(Walk *w, Reg r, const Insn *at, Form *f) {
    const Insn *in = definition(w, r, at);
    while (in && sets(in, r) && in->row == ZYDIS_MNEMONIC_MOV && is_gp(&in->op[1], 64)) {
        r = in->op[1].no;
        in = definition(w, r, in);
    }
    bool extended = in && in->row == ZYDIS_MNEMONIC_CDQE;
    if (extended)
        in = definition(w, RAX, in);
    if (!in || !sets(in, r) || (in->row != ZYDIS_MNEMONIC_MOV && in->row != ZYDIS_MNEMONIC_MOVSXD))
        return false;
    f->entry_bytes = in->op[1].bits / 8;
    f->entry_signed = extended || in->row == ZYDIS_MNEMONIC_MOVSXD;
    return f->entry_bytes >= 4 && match_address(w, &in->op[1], in, f);
}

static bool match_sum(Walk *w, Reg base, Reg entry, const Insn *at, Form *f) {
    *f = (Form){0};
    return constant(w, base, at, &f->base) && match_entry(w, entry, at, f);
}

/* The two registers whose sum `in` sets. */
static bool addends(const Insn *in, Reg *a, Reg *b) {
    const Operand *second = &in->op[1];
    *a = in->op[0].no;
    *b = second->no;
    if (in->row == ZYDIS_MNEMONIC_ADD)
        return is_gp(second, 64);
    *a = second->base;
    *b = second->index;
    return in->row == ZYDIS_MNEMONIC_LEA && is_plain(second) && !second->disp && second->scale == 1 && *a < REG_PC &&
           *b != REG_NONE;
}

static bool match_jump(Walk *w, const Insn *jump, Form *f) {
    *f = (Form){.entry_bytes = 8};
    const Operand *to = &jump->op[0];
    if (to->kind == OPERAND_MEM)
        return to->bits == 64 && match_address(w, to, jump, f);
    if (!is_gp(to, 64))
        return false;
    const Insn *in = definition(w, to->no, jump);
    Reg a, b;
    if (in && sets(in, to->no) && in->op[0].bits == 64 && addends(in, &a, &b))
        return match_sum(w, a, b, in, f) || match_sum(w, b, a, in, f);
    return match_entry(w, to->no, jump, f);
}

/* --------------------------------------------------------------------------------------------------------- the bound */

/* A value by its origin, to be compared with others: what `def` left in reg (NULL: what reg held where the view ends) or
 * found in mem, plus bias. */
typedef struct Origin {
    const Insn *def;
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
static void finish_origin(Origin *o) {
    const Insn *in = o->def;
    if (!in || !in->row || !is_gp(&in->op[0], 8) || in->op[0].no != o->reg)
        return;
    const Operand *by = &in->op[1];
    if (in->row == ZYDIS_MNEMONIC_AND && by->kind == OPERAND_IMM)
        limit(o, truncated((u64)by->disp, in->op[0].bits));
    if (in->row == ZYDIS_MNEMONIC_SHR && by->kind == OPERAND_IMM)
        limit(o, truncated(~(u64)0, in->op[0].bits) >> (by->disp & 63));
    bool load = in->row == ZYDIS_MNEMONIC_MOV || in->row == ZYDIS_MNEMONIC_MOVZX || in->row == ZYDIS_MNEMONIC_MOVSX ||
                in->row == ZYDIS_MNEMONIC_MOVSXD;
    if (load && by->kind == OPERAND_MEM)
        o->mem = by;
}

/* Widening keeps values that an unsigned comparison has bounded, with or without sign. */
static bool is_widening(const Insn *in) {
    return in->row == ZYDIS_MNEMONIC_MOVZX || in->row == ZYDIS_MNEMONIC_MOVSX || in->row == ZYDIS_MNEMONIC_MOVSXD;
}

/* From a definition to the value it was made of; false if that is not one plus a constant. */
static bool follow(Origin *o) {
    const Insn *in = o->def;
    if (in->row == ZYDIS_MNEMONIC_CDQE)
        return true;
    if (!sets(in, o->reg))
        return false;
    if (is_widening(in)) {
        limit(o, truncated(~(u64)0, in->op[1].bits));
        o->reg = in->op[1].kind == OPERAND_REG ? in->op[1].no : o->reg;
        return is_gp(&in->op[1], 8);
    }
    i64 addend;
    Reg r = o->reg;
    if (!peel_addition(in, &r, &addend))
        return false;
    o->reg = r;
    o->bias += addend;
    return true;
}

static Origin origin(Walk *w, Reg r, const Insn *at) {
    Origin o = {.def = at, .reg = r, .max = UINT64_MAX};
    do
        o.def = definition(w, o.reg, o.def);
    while (o.def && follow(&o));
    finish_origin(&o);
    return o;
}

static bool same_register(Walk *w, Reg r, const Insn *a, const Insn *b) {
    return r >= REG_PC || definition(w, r, a) == definition(w, r, b);
}

/* A store in between could change it; but then no compiler would load it again for a jump that it has guarded. */
static bool same_memory(Walk *w, const Origin *a, const Origin *b) {
    const Operand *x = a->mem, *y = b->mem;
    return x && y && x->base == y->base && x->index == y->index && x->scale == y->scale && x->disp == y->disp &&
           x->seg == y->seg && same_register(w, x->base, a->def, b->def) && same_register(w, x->index, a->def, b->def);
}

static bool same_origin(Walk *w, const Origin *a, const Origin *b) {
    return (a->def == b->def && a->reg == b->reg) || same_memory(w, a, b);
}

/* The largest value for which a comparison with n leads the way that was taken. */
static bool largest(u32 row, bool taken, u64 n, u64 *max) {
    switch (row) {
    case ZYDIS_MNEMONIC_JNBE:
    case ZYDIS_MNEMONIC_JNLE: *max = n; return !taken;
    case ZYDIS_MNEMONIC_JBE:
    case ZYDIS_MNEMONIC_JLE: *max = n; return taken;
    case ZYDIS_MNEMONIC_JNB:
    case ZYDIS_MNEMONIC_JNL: *max = n - 1; return n && !taken;
    case ZYDIS_MNEMONIC_JB:
    case ZYDIS_MNEMONIC_JL: *max = n - 1; return n && taken;
    default: return false;
    }
}

static bool compared(Walk *w, const Insn *cmp, Origin *o) {
    if ((cmp->row != ZYDIS_MNEMONIC_CMP && cmp->row != ZYDIS_MNEMONIC_SUB) || cmp->op[1].kind != OPERAND_IMM)
        return false;
    if (cmp->op[0].kind == OPERAND_MEM)
        *o = (Origin){.def = cmp, .mem = &cmp->op[0], .reg = REG_NONE};
    else if (is_gp(&cmp->op[0], 8))
        *o = origin(w, cmp->op[0].no, cmp);
    else
        return false;
    return true;
}

/* The largest index with which `branch` leads to `next`. */
static bool bound_by_branch(Walk *w, const Origin *index, const Insn *branch, const Insn *next, u64 *max) {
    bool taken = branch->target == next->pc;
    const Insn *cmp = definition(w, ZF, branch);
    Origin left;
    if (taken == (insn_end(branch) == next->pc) || !cmp || !compared(w, cmp, &left) || !same_origin(w, index, &left))
        return false;
    u64 n = truncated(imm_value(cmp, 1), cmp->op[0].bits);
    if (!largest(branch->row, taken, n, max))
        return false;
    *max += (u64)(index->bias - left.bias);
    return *max < MAX_ENTRIES;
}

static bool find_bound(Walk *w, const Form *f, u64 *max) {
    Origin index = origin(w, f->index, f->at);
    const Insn *next = f->at;
    for (const Insn *in = before(w, next); in; next = in, in = before(w, in))
        if (in->flow == FLOW_BRANCH && bound_by_branch(w, &index, in, next, max))
            return true;
    *max = index.max + (u64)index.bias;
    return index.max < MAX_ENTRIES && *max < MAX_ENTRIES;
}

/* -------------------------------------------------------------------------------------------------------- the entries */

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
    *out = (JumpTable){.load_pc = f->at->pc, .index = f->index, .start = f->start, .end = f->start + size, .count = count};
    out->targets = ARENA_ARRAY(arena, u64, count);
    for (size_t i = 0; i < count; i++)
        out->targets[i] = entry_at(f, bytes, i);
    return true;
}

bool x86_jump_table(const CodeView *v, const Insn *jump, Arena *arena, JumpTable *out) {
    Walk w = {v, MAX_STEPS};
    Form form;
    u64 max;
    return jump->row && match_jump(&w, jump, &form) && find_bound(&w, &form, &max) &&
           read_entries(v, &form, max + 1, arena, out);
}
