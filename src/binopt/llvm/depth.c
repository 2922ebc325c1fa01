/* depth.c: see depth.h. For each instruction, how far above the stack pointer of the function's entry each general register
 * points, as far as that is the same on all ways to it. */
#include "binopt/llvm/depth.h"

#include "isa/x86_64/x86_64.h"

#define UNKNOWN INT64_MIN

typedef struct Heights {
    i64 of[16];
    bool reached;
} Heights;

static bool is_named(const LatheFunc *fn, const Insn *in, const char *name) {
    return !strcmp(fn->isa->row_name(in->row), name);
}

static bool is_gp64(const Operand *op) {
    return op->kind == OPERAND_REG && op->cls == CLS_GP && op->bits == 64;
}

static i64 plus(i64 height, i64 bytes) {
    return height == UNKNOWN ? UNKNOWN : height + bytes;
}

/* The height that a register gets from an instruction that sets it to another one's plus a constant. */
static i64 result(const LatheFunc *fn, const Insn *in, const Heights *h) {
    const Operand *to = &in->op[0], *from = &in->op[1];
    if (is_named(fn, in, "mov") && is_gp64(from))
        return h->of[from->no];
    if (is_named(fn, in, "lea") && from->base < 16 && from->index == REG_NONE)
        return plus(h->of[from->base], from->disp);
    if (is_named(fn, in, "add") && is_imm(in, 1))
        return plus(h->of[to->no], from->disp);
    if (is_named(fn, in, "sub") && is_imm(in, 1))
        return plus(h->of[to->no], -from->disp);
    return UNKNOWN;
}

static void step(const LatheFunc *fn, const Insn *in, Heights *h) {
    const Heights before = *h;
    for (Reg r = RAX; r <= R15; r++)
        if (regset_has(&in->writes, r))
            h->of[r] = UNKNOWN;
    if (is_named(fn, in, "push"))
        h->of[RSP] = plus(before.of[RSP], -8);
    else if (is_named(fn, in, "pop"))
        h->of[RSP] = plus(before.of[RSP], 8);
    else if (is_named(fn, in, "leave"))
        h->of[RSP] = plus(before.of[RBP], 8);
    else if (in->flow == FLOW_CALL)
        h->of[RSP] = before.of[RSP];
    else if (is_gp64(&in->op[0]) && regset_has(&in->writes, in->op[0].no))
        h->of[in->op[0].no] = result(fn, in, &before);
}

static bool merge(Heights *into, const Heights *from) {
    bool changed = !into->reached;
    for (int r = 0; r < 16; r++) {
        i64 met = !into->reached || into->of[r] == from->of[r] ? from->of[r] : UNKNOWN;
        changed |= met != into->of[r];
        into->of[r] = met;
    }
    into->reached = true;
    return changed;
}

typedef struct Flows {
    const LatheFunc *fn;
    Heights *at; /* before each instruction */
    VEC(u32) work;
} Flows;

static void flow_to(Flows *f, u64 pc, const Heights *h) {
    u32 i;
    if (map64_get(&f->fn->by_pc, pc, &i) && merge(&f->at[i], h))
        VEC_PUSH(&f->work, i);
}

static void flow_from(Flows *f, u32 index) {
    const Insn *in = &f->fn->insns.at[index];
    Heights h = f->at[index];
    step(f->fn, in, &h);
    if (in->flow == FLOW_JUMP || in->flow == FLOW_BRANCH)
        flow_to(f, in->target, &h);
    if (in->flow == FLOW_NEXT || in->flow == FLOW_BRANCH || (in->flow == FLOW_CALL && !in->last))
        flow_to(f, insn_end(in), &h);
    for (size_t k = 0; in->table && k < in->table->count; k++)
        flow_to(f, in->table->targets[k], &h);
}

/* Before each instruction; to be freed by mem_free. */
static Heights *find_heights(const LatheFunc *fn) {
    Flows f = {.fn = fn, .at = mem_new(fn->insns.len * sizeof(Heights))};
    Heights entry = {0};
    for (int r = 0; r < 16; r++)
        entry.of[r] = UNKNOWN;
    entry.of[RSP] = 0;
    flow_to(&f, fn->entry_pc, &entry);
    while (f.work.len)
        flow_from(&f, f.work.at[--f.work.len]);
    VEC_FREE(&f.work);
    return f.at;
}

bool depth_jumps_are_calls(const LatheFunc *fn) {
    if (!fn->has_indirect)
        return true;
    Heights *at = find_heights(fn);
    bool all = true;
    for (size_t i = 0; i < fn->insns.len; i++) {
        const Insn *in = &fn->insns.at[i];
        all &= in->flow != FLOW_INDIRECT || in->table || !at[i].reached || at[i].of[RSP] == 0;
    }
    mem_free(at);
    return all;
}

/* ---------------------------------------------------------------------------------------------------- arguments on the stack */

/* Functions that realign their stack keep in r10 where they found it. */
static bool refers_above(const LatheFunc *fn, const Insn *in, const Heights *h, i64 height) {
    if (is_named(fn, in, "lea") && in->op[0].no == R10)
        return false;
    for (u32 i = 0; i < in->operand_count; i++) {
        const Operand *op = &in->op[i];
        bool known = op->kind == OPERAND_MEM && op->base < 16 && h->of[op->base] != UNKNOWN;
        if (known && h->of[op->base] + op->disp + (op->bits ? op->bits / 8 : 1) > height)
            return true;
    }
    return false;
}

const Insn *depth_find_above(const LatheFunc *fn, i64 height) {
    Heights *at = find_heights(fn);
    const Insn *found = NULL;
    for (size_t i = 0; i < fn->insns.len && !found; i++)
        if (at[i].reached && refers_above(fn, &fn->insns.at[i], &at[i], height))
            found = &fn->insns.at[i];
    mem_free(at);
    return found;
}
