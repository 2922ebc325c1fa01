/* depth.c: see depth.h. Computes for each instruction how far each general register points above the stack pointer of
 * the function's entry, if that is the same on all paths to it; and which registers may hold results of arithmetic. */
#include "binopt/llvm/lift/depth.h"

#include "binopt/llvm/lift/labels.h"
#include "binopt/process/object.h"
#include "binopt/process/unwind.h"
#include "isa/x86_64/x86_64.h"

#define UNKNOWN INT64_MIN

typedef struct Heights {
    i64 of[16];
    /* One bit for each register that may hold something else than a pointer that was loaded, passed as an argument, or
     * is in the code. */
    u16 computed;
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

/* The height of a register after an instruction that sets it to another register plus a constant. */
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

static bool is_computed(const Heights *h, const Operand *op) {
    return op->kind == OPERAND_REG ? h->computed >> op->no & 1 : op->bits != 64;
}

/* True if the instruction puts a computed value into `r`. */
static bool computes(const LatheFunc *fn, const Insn *in, const Heights *h, Reg r) {
    if (in->flow == FLOW_CALL || is_named(fn, in, "pop"))
        return false;
    if (!is_gp64(&in->op[0]) || in->op[0].no != r)
        return true;
    if (!strncmp(fn->isa->row_name(in->row), "cmov", 4))
        return is_computed(h, &in->op[0]) || is_computed(h, &in->op[1]);
    if (is_named(fn, in, "lea"))
        return in->op[1].base != REG_PC;
    return !is_named(fn, in, "mov") || (!is_imm(in, 1) && is_computed(h, &in->op[1]));
}

/* True if the instruction, or the function that it calls, may write to the register. */
static bool writes(const LatheFunc *fn, const Insn *in, Reg r) {
    return regset_has(&in->writes, r) || (in->flow == FLOW_CALL && !regset_has(&fn->isa->abi.kept, r));
}

static void step(const LatheFunc *fn, const Insn *in, Heights *h) {
    const Heights before = *h;
    for (Reg r = RAX; r <= R15; r++)
        if (writes(fn, in, r)) {
            h->of[r] = UNKNOWN;
            h->computed = (u16)((h->computed & ~(1u << r)) | (u32)computes(fn, in, &before, r) << r);
        }
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
    changed |= from->computed & ~into->computed;
    into->computed |= from->computed;
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

/* False for a call at the end of a function or of a part of one: it does not return, and what follows is another
 * function. */
static bool comes_back(const Insn *call) {
    u64 start, end;
    return !call->last && !(unwind_extent(call->pc, &start, &end) && insn_end(call) == end);
}

static void flow_from(Flows *f, u32 index) {
    const Insn *in = &f->fn->insns.at[index];
    Heights h = f->at[index];
    step(f->fn, in, &h);
    if (in->flow == FLOW_JUMP || in->flow == FLOW_BRANCH)
        flow_to(f, in->target, &h);
    if (in->flow == FLOW_NEXT || in->flow == FLOW_BRANCH || (in->flow == FLOW_CALL && comes_back(in)))
        flow_to(f, insn_end(in), &h);
    for (size_t k = 0; in->table && k < in->table->count; k++)
        flow_to(f, in->table->targets[k], &h);
}

/* The heights before each instruction, to be freed by mem_free. */
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

/* ---------------------------------------------------------------------------------------------------------- computed jumps */

/* A stub of a procedure linkage table, or code that is used in its place: only the dynamic linker writes to its slot. */
static bool is_linkage(const Insn *in) {
    const Operand *to = &in->op[0];
    return to->kind == OPERAND_MEM && to->base == REG_PC && object_is_function_slot((u64)to->disp);
}

/* True if the jump is a tail call, provided that it cannot lead to a place in the function itself. */
static bool may_be_call(const Insn *in, const Heights *h) {
    return h->of[RSP] == 0 && !is_computed(h, &in->op[0]);
}

/* True if all computed jumps are tail calls, or have known tables. */
static bool jumps_are_calls(LatheFunc *fn, const Heights *at) {
    bool all = true, any = false;
    for (size_t i = 0; i < fn->insns.len && all; i++) {
        const Insn *in = &fn->insns.at[i];
        if (in->flow != FLOW_INDIRECT || (in->table && in->table->sure) || !at[i].reached)
            continue;
        all = !in->table && may_be_call(in, &at[i]);
        any |= !is_linkage(in);
    }
    return all && (!any || labels_none(fn));
}

/* ---------------------------------------------------------------------------------------------------------- return addresses */

typedef enum Return {
    RETURN_PLAIN,  /* to the caller, as far as can be seen */
    RETURN_USED,   /* likewise, but the function uses the return address, which lifted code does not have */
    RETURN_ASTRAY, /* elsewhere: the return address is changed, or is not where it was */
} Return;

/* Functions that realign their stack push the return address once more, for debuggers. */
static bool is_harmless(const LatheFunc *fn, const Insn *in) {
    return is_named(fn, in, "push") || is_named(fn, in, "lea") || is_named(fn, in, "nop");
}

/* What the instruction does with the return address. */
static Return use_of_address(const LatheFunc *fn, const Insn *in, const Heights *h) {
    for (u32 i = 0; i < in->operand_count; i++) {
        const Operand *op = &in->op[i];
        if (op->kind != OPERAND_MEM || op->base >= 16 || op->index != REG_NONE || h->of[op->base] == UNKNOWN)
            continue;
        i64 height = h->of[op->base] + op->disp;
        bool compares = is_named(fn, in, "cmp") || is_named(fn, in, "test");
        if (height < 8 && height + op->bits / 8 > 0 && !is_harmless(fn, in))
            return i || compares ? RETURN_USED : RETURN_ASTRAY;
    }
    return RETURN_PLAIN;
}

static Return returns_of(const LatheFunc *fn, const Heights *at) {
    Return worst = RETURN_PLAIN;
    for (size_t i = 0; i < fn->insns.len && worst != RETURN_ASTRAY; i++) {
        const Insn *in = &fn->insns.at[i];
        i64 sp = at[i].of[RSP];
        Return one = !at[i].reached                                   ? RETURN_PLAIN
                     : in->flow == FLOW_RETURN && sp && sp != UNKNOWN ? RETURN_ASTRAY
                                                                      : use_of_address(fn, in, &at[i]);
        worst = one > worst ? one : worst;
    }
    return worst;
}

const char *depth_check(LatheFunc *fn, bool *astray) {
    Heights *at = find_heights(fn);
    Return returns = returns_of(fn, at);
    bool unknown = returns == RETURN_PLAIN && fn->has_indirect && !jumps_are_calls(fn, at);
    mem_free(at);
    *astray = returns == RETURN_ASTRAY;
    return returns   ? "it uses or changes its return address"
           : unknown ? "it has computed jumps whose targets are not known"
                     : NULL;
}

/* ---------------------------------------------------------------------------------------------------- arguments on the stack */

/* Functions that realign their stack keep the old stack pointer in r10. */
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

/* True if an operand lies above the return address, or is an address there. */
static bool is_above(const Operand *op, const Heights *h) {
    return op->kind == OPERAND_MEM && op->base < 16 && h->of[op->base] != UNKNOWN && h->of[op->base] + op->disp >= 8;
}

static bool looks_above(const Insn *in, const Heights *h) {
    for (u32 i = 0; i < in->operand_count; i++)
        if (is_above(&in->op[i], h))
            return true;
    for (Reg r = RAX; r <= R15; r++)
        if (h->of[r] != UNKNOWN && h->of[r] >= 8)
            return true;
    return in->flow == FLOW_INDIRECT && !in->table;
}

bool depth_has_stack_arguments(const LatheFunc *fn) {
    Heights *at = find_heights(fn);
    bool found = false;
    for (size_t i = 0; i < fn->insns.len && !found; i++)
        found = at[i].reached && looks_above(&fn->insns.at[i], &at[i]);
    mem_free(at);
    return found;
}
