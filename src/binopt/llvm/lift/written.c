/* written.c: see written.h. Computes for each instruction the registers that on some path to it still have their values
 * from the entry. */
#include "binopt/llvm/lift/written.h"

#include "isa/x86_64/x86_64.h"

enum { CANDIDATES = 4, ALL = (1 << CANDIDATES) - 1, REACHED = 1 << CANDIDATES };

/* In the order of the bits of ResultRegs. */
static const Reg candidate[CANDIDATES] = {RAX, RDX, XMM0, XMM0 + 1};

typedef struct Ways {
    const LatheFunc *fn;
    u8 *unset; /* before each instruction: one bit for each candidate, and REACHED */
    VEC(u32) work;
} Ways;

static void flow_to(Ways *w, u64 pc, u8 unset) {
    u32 i;
    if (!map64_get(&w->fn->by_pc, pc, &i) || (w->unset[i] | unset | REACHED) == w->unset[i])
        return;
    w->unset[i] |= unset | REACHED;
    VEC_PUSH(&w->work, i);
}

/* A callee may have set all of them. */
static u8 unset_after(const Insn *in, u8 unset) {
    if (in->flow == FLOW_CALL)
        return 0;
    for (u32 i = 0; i < CANDIDATES; i++)
        if (regset_has(&in->writes, candidate[i]))
            unset &= (u8) ~(1 << i);
    return unset;
}

static void flow_from(Ways *w, u32 index) {
    const Insn *in = &w->fn->insns.at[index];
    u8 unset = unset_after(in, w->unset[index] & ALL);
    if (in->flow == FLOW_JUMP || in->flow == FLOW_BRANCH)
        flow_to(w, in->target, unset);
    if (in->flow == FLOW_NEXT || in->flow == FLOW_BRANCH || (in->flow == FLOW_CALL && !in->last))
        flow_to(w, insn_end(in), unset);
    for (size_t k = 0; in->table && k < in->table->count; k++)
        flow_to(w, in->table->targets[k], unset);
}

/* The registers to which nothing is written on some path to a return. Jumps to other functions are not followed: those
 * may write to them. */
static u8 unset_at_returns(const LatheFunc *fn) {
    Ways w = {.fn = fn, .unset = mem_new(fn->insns.len)};
    u8 unset = 0;
    flow_to(&w, fn->entry_pc, ALL);
    while (w.work.len)
        flow_from(&w, w.work.at[--w.work.len]);
    for (size_t i = 0; i < fn->insns.len; i++)
        if (fn->insns.at[i].flow == FLOW_RETURN && w.unset[i] & REACHED)
            unset |= w.unset[i] & ALL;
    VEC_FREE(&w.work);
    mem_free(w.unset);
    return unset;
}

ResultRegs written_results(const BinoptCfg *cfg, const LatheFunc *fn) {
    return results_kept(cfg, unset_at_returns(fn), true);
}
