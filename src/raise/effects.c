/* effects.c: what each function takes, gives and loses of the guest's registers.
 *
 * Lifted functions have their registers in the guest state; which of them they read and write there is found first, block by
 * block, as a list of events. From these follow, each to a fixpoint over the graph of calls:
 *
 *     lost      all that a function or its callees write: what a caller finds there afterwards has no meaning,
 *     given     but for the registers that the calling convention has results in;
 *     handed    what has a value at some call of the function: written by the caller, or handed to it, and not lost since;
 *     taken     what is handed to it and may be read, or returned, before it is written.
 *
 * `handed` and `taken` look at an argument from both sides: code beyond the program might read any register that arguments
 * can be in, but most have no value where it is called.
 *
 * A register that callees have to keep is an argument only where a function does something with it but store it: what it
 * stores at its beginning it loads at its end. */
#include <llvm-c/Core.h>

#include "raise/raise.h"

typedef struct Reader {
    Raise *r;
    RaiseFunction *f;
    const Map64 *functions; /* index of a function by the value that it is */
    LLVMValueRef cpu;
} Reader;

static bool same(const RegSet *a, const RegSet *b) {
    return !memcmp(a, b, sizeof(*a));
}

bool raise_state_offset(LLVMValueRef cpu, LLVMValueRef v, u64 *off) {
    *off = 0;
    while (v != cpu) {
        if (!LLVMIsAGetElementPtrInst(v) || LLVMGetNumOperands(v) != 2 || !LLVMIsAConstantInt(LLVMGetOperand(v, 1)))
            return false;
        *off += LLVMConstIntGetZExtValue(LLVMGetOperand(v, 1));
        v = LLVMGetOperand(v, 0);
    }
    return true;
}

Reg raise_reg_at(const Raise *r, u64 off) {
    return off < r->reg_at.len && r->reg_at.at[off] ? (Reg)(r->reg_at.at[off] - 1) : REG_NONE;
}

static Reg reg_behind(const Reader *d, LLVMValueRef pointer) {
    const Isa *isa = d->r->isa;
    u64 off;
    if (!raise_state_offset(d->cpu, pointer, &off))
        return REG_NONE;
    Reg reg = raise_reg_at(d->r, off);
    d->f->uses_rest |= reg == REG_NONE && off != isa->pc_off && off != isa->trap_off && off != isa->trap_info_off;
    return reg;
}

static bool is_ours(LLVMValueRef callee) {
    size_t size;
    return !strncmp(LLVMGetValueName2(callee, &size), RAISE_PREFIX, strlen(RAISE_PREFIX));
}

/* ------------------------------------------------------------------------------------------------------------ events */

static void add(Reader *d, Event e) {
    VEC_PUSH(&d->f->events, e);
    if (e.kind == EVENT_WRITE)
        regset_add(&d->f->written, e.reg);
}

static bool only_stored(LLVMValueRef v) {
    for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef user = LLVMGetUser(u);
        if (!LLVMIsAStoreInst(user) || LLVMGetOperand(user, 0) != v)
            return false;
    }
    return true;
}

static void read_load(Reader *d, LLVMValueRef in) {
    Reg reg = reg_behind(d, LLVMGetOperand(in, 0));
    if (reg == REG_NONE)
        return;
    bool kept = regset_has(&d->r->isa->abi.kept, reg) && reg != d->r->isa->abi.stack;
    if (!kept || !only_stored(in))
        add(d, (Event){.kind = EVENT_READ, .reg = reg});
}

static void read_store(Reader *d, LLVMValueRef in) {
    Reg reg = reg_behind(d, LLVMGetOperand(in, 1));
    if (reg == REG_NONE)
        return;
    LLVMTypeRef type = LLVMTypeOf(LLVMGetOperand(in, 0));
    u64 bits = LLVMGetTypeKind(type) == LLVMPointerTypeKind ? 64 : ty_bits(ir_ty(LLVMGetOperand(in, 0)));
    if (bits < d->r->isa->regs[reg].bits)
        add(d, (Event){.kind = EVENT_READ, .reg = reg});
    add(d, (Event){.kind = EVENT_WRITE, .reg = reg});
}

/* A system call of the program's own machine reads registers that are known, and writes one. */
static bool read_system_call(Reader *d, LLVMValueRef in) {
    const HostRaise *host = d->r->host->raise;
    size_t size;
    if (d->r->foreign || strcmp(LLVMGetValueName2(LLVMGetCalledValue(in), &size), RAISE_SYSCALL))
        return false;
    for (u32 i = 0; i < host->system_call_reg_count; i++)
        add(d, (Event){.kind = EVENT_READ, .reg = host->system_call_regs[i]});
    d->f->calls_system = true;
    add(d, (Event){.kind = EVENT_SYSTEM, .at = in});
    add(d, (Event){.kind = EVENT_WRITE, .reg = host->system_call_regs[0]});
    return true;
}

/* A helper that is given the address of a register may read and write it. */
static void read_helper(Reader *d, LLVMValueRef in) {
    for (unsigned i = 0; i < LLVMGetNumArgOperands(in); i++) {
        LLVMValueRef arg = LLVMGetOperand(in, i);
        if (arg == d->cpu) {
            add(d, (Event){.kind = EVENT_WHOLE, .at = in});
            d->f->uses_rest |= !is_ours(LLVMGetCalledValue(in));
            d->f->calls_system |= LLVMGetCalledValue(in) == d->r->cfg.on_syscall;
            return;
        }
        Reg reg = reg_behind(d, arg);
        if (reg == REG_NONE)
            continue;
        add(d, (Event){.kind = EVENT_READ, .reg = reg});
        regset_add(&d->f->written, reg);
    }
}

/* On the way to a landing pad, these are written. On the other one they are as the callee has left them. */
static void read_caught(Reader *d) {
    Reg regs[2];
    raise_caught_regs(d->r, regs);
    for (int i = 0; i < 2; i++) {
        add(d, (Event){.kind = EVENT_CAUGHT, .reg = regs[i]});
        regset_add(&d->f->written, regs[i]);
    }
}

/* The registers that what `lookup` finds may have arguments in. */
static RegSet passed_at(const Reader *d, LLVMValueRef lookup) {
    return raise_passed_to(d->r, raise_imported_name(d->r, LLVMGetOperand(lookup, 1)));
}

static void read_call(Reader *d, LLVMValueRef in) {
    LLVMValueRef callee = LLVMGetCalledValue(in);
    u32 index;
    if (callee == d->r->lookup || callee == d->r->nowhere)
        return;
    if (callee == d->r->threw) {
        read_caught(d);
        return;
    }
    if (map64_get(d->functions, (u64)callee, &index))
        add(d, (Event){.kind = EVENT_CALL, .callee = index, .at = in});
    else if (LLVMIsACallInst(callee) && LLVMGetCalledValue(callee) == d->r->lookup)
        add(d, (Event){.kind = EVENT_OUT, .at = in, .passed = passed_at(d, callee)});
    else if (!read_system_call(d, in))
        read_helper(d, in);
}

/* An access of unknown place within a register reads it. */
static void read_pointer(Reader *d, LLVMValueRef in) {
    u64 off;
    if (raise_state_offset(d->cpu, in, &off))
        return;
    Reg reg = reg_behind(d, LLVMGetOperand(in, 0));
    if (reg == REG_NONE)
        return;
    add(d, (Event){.kind = EVENT_READ, .reg = reg});
    regset_add(&d->f->written, reg);
}

static void read_insn(Reader *d, LLVMValueRef in) {
    if (LLVMIsALoadInst(in))
        read_load(d, in);
    else if (LLVMIsAStoreInst(in))
        read_store(d, in);
    else if (LLVMIsACallInst(in))
        read_call(d, in);
    else if (LLVMIsAGetElementPtrInst(in))
        read_pointer(d, in);
    else if (LLVMIsAReturnInst(in))
        add(d, (Event){.kind = EVENT_RETURN});
}

static void read_blocks(Reader *d) {
    Map64 index = {0};
    RaiseFunction *f = d->f;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f->plain); b; b = LLVMGetNextBasicBlock(b)) {
        map64_set(&index, (u64)b, (u32)f->blocks.len);
        VEC_PUSH(&f->blocks, ((RaiseBlock){.first = (u32)f->events.len}));
        for (LLVMValueRef in = LLVMGetFirstInstruction(b); in; in = LLVMGetNextInstruction(in))
            read_insn(d, in);
        RaiseBlock *last = &f->blocks.at[f->blocks.len - 1];
        last->count = (u32)f->events.len - last->first;
    }
    u32 i = 0, to;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f->plain); b; b = LLVMGetNextBasicBlock(b), i++) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(b);
        for (unsigned s = 0; end && s < LLVMGetNumSuccessors(end); s++)
            if (map64_get(&index, (u64)LLVMGetSuccessor(end, s), &to))
                VEC_PUSH(&f->blocks.at[i].next, to);
    }
    map64_free(&index);
}

static void read_functions(Raise *r) {
    Map64 by_value = {0};
    for (size_t i = 0; i < r->functions.len; i++)
        if (r->functions.at[i].plain)
            map64_set(&by_value, (u64)r->functions.at[i].plain, (u32)i);
    for (size_t i = 0; i < r->functions.len; i++) {
        RaiseFunction *f = &r->functions.at[i];
        if (!f->plain)
            continue;
        Reader d = {r, f, &by_value, LLVMGetParam(f->plain, 0)};
        read_blocks(&d);
        r->uses_rest |= f->uses_rest;
    }
    map64_free(&by_value);
}

/* ------------------------------------------------------------------------------------------------- lost and given */

/* All but what callees keep, flags and the like: these never travel. */
static RegSet lost_outside(const Raise *r) {
    RegSet all = {0};
    for (Reg i = 0; i < r->isa->reg_count; i++)
        regset_add(&all, i);
    regset_drop(&all, &r->isa->abi.kept);
    return all;
}

static void lose(Raise *r, const Event *e, RegSet *lost) {
    if (e->kind == EVENT_CALL)
        regset_join(lost, &r->functions.at[e->callee].lost);
    if (e->kind == EVENT_OUT || e->kind == EVENT_WHOLE) {
        RegSet all = lost_outside(r);
        regset_join(lost, &all);
    }
}

static bool find_lost(Raise *r, RaiseFunction *f) {
    RegSet lost = f->written, given;
    for (size_t i = 0; i < f->events.len; i++)
        lose(r, &f->events.at[i], &lost);
    regset_drop(&lost, &r->isa->abi.kept);
    regset_drop(&lost, &f->untouched);
    given = lost;
    regset_keep(&given, &r->isa->abi.results);
    bool changed = !same(&lost, &f->lost);
    f->lost = lost;
    f->given = given;
    return changed;
}

/* -------------------------------------------------------------------------------------------------------- handed */

static void hand(RaiseFunction *callee, const RegSet *available, bool *changed) {
    RegSet before = callee->handed;
    regset_join(&callee->handed, available);
    *changed |= !same(&before, &callee->handed);
}

static void step_available(Raise *r, Event *e, RegSet *available, bool *changed) {
    switch (e->kind) {
    case EVENT_WRITE:
    case EVENT_CAUGHT:
        regset_add(available, e->reg);
        break;
    case EVENT_CALL: {
        RaiseFunction *g = &r->functions.at[e->callee];
        e->available = *available;
        hand(g, available, changed);
        regset_drop(available, &g->lost);
        regset_join(available, &g->given);
        break;
    }
    case EVENT_OUT: {
        RegSet lost = lost_outside(r);
        e->available = *available;
        regset_drop(available, &lost);
        regset_join(available, &r->isa->abi.results);
        break;
    }
    case EVENT_WHOLE:
        e->available = *available;
        for (Reg i = 0; i < r->isa->reg_count; i++)
            regset_add(available, i);
        break;
    case EVENT_READ:
    case EVENT_SYSTEM:
    case EVENT_RETURN:
        break;
    }
}

/* One pass over the blocks; true if something has changed. */
static bool find_available(Raise *r, RaiseFunction *f) {
    bool changed = false;
    RegSet *head = &f->blocks.at[0].available, before = *head;
    regset_join(head, &f->handed);
    changed = !same(&before, head);
    for (size_t b = 0; b < f->blocks.len; b++) {
        RaiseBlock *block = &f->blocks.at[b];
        RegSet available = block->available;
        for (u32 i = 0; i < block->count; i++)
            step_available(r, &f->events.at[block->first + i], &available, &changed);
        for (size_t n = 0; n < block->next.len; n++) {
            RegSet *next = &f->blocks.at[block->next.at[n]].available;
            before = *next;
            regset_join(next, &available);
            changed |= !same(&before, next);
        }
    }
    return changed;
}

/* --------------------------------------------------------------------------------------------------------- taken */

static void step_live(Raise *r, const RaiseFunction *f, const Event *e, RegSet *live) {
    switch (e->kind) {
    case EVENT_READ:
        regset_add(live, e->reg);
        break;
    case EVENT_WRITE:
        regset_remove(live, e->reg);
        break;
    case EVENT_CALL:
        regset_drop(live, &r->functions.at[e->callee].lost);
        regset_join(live, &r->functions.at[e->callee].taken);
        break;
    case EVENT_OUT: {
        RegSet lost = lost_outside(r), passed = e->passed;
        regset_drop(live, &lost);
        regset_keep(&passed, &e->available);
        regset_join(live, &passed);
        break;
    }
    case EVENT_WHOLE:
        regset_join(live, &e->available);
        break;
    case EVENT_SYSTEM: /* what it reads and writes are events of their own */
    case EVENT_CAUGHT:
        break;
    case EVENT_RETURN: { /* a result that was not written on the way there may be an argument of the same register */
        RegSet both = f->given;
        regset_keep(&both, &r->isa->abi.passed);
        regset_join(live, &both);
        break;
    }
    }
}

static bool find_live(Raise *r, RaiseFunction *f) {
    bool changed = false;
    for (size_t b = f->blocks.len; b-- > 0;) {
        RaiseBlock *block = &f->blocks.at[b];
        RegSet live = {0};
        for (size_t n = 0; n < block->next.len; n++)
            regset_join(&live, &f->blocks.at[block->next.at[n]].live);
        for (u32 i = block->count; i-- > 0;)
            step_live(r, f, &f->events.at[block->first + i], &live);
        changed |= !same(&live, &block->live);
        block->live = live;
    }
    RegSet taken = f->blocks.at[0].live;
    regset_keep(&taken, &f->handed);
    regset_add(&taken, r->isa->abi.stack);
    changed |= !same(&taken, &f->taken);
    f->taken = taken;
    return changed;
}

/* ---------------------------------------------------------------------------------------------------------- public */

static void until_stable(Raise *r, bool (*step)(Raise *r, RaiseFunction *f)) {
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = r->functions.len; i-- > 0;)
            if (r->functions.at[i].plain)
                changed |= step(r, &r->functions.at[i]);
    }
}

static void map_state(Raise *r) {
    for (u32 i = 0; i < r->isa->state_bytes; i++)
        VEC_PUSH(&r->reg_at, 0);
    for (Reg reg = 0; reg < r->isa->reg_count; reg++) {
        const RegInfo *info = &r->isa->regs[reg];
        for (u32 i = 0; i < (info->bits + 7u) / 8; i++)
            r->reg_at.at[info->off_bytes + i] = reg + 1u;
    }
}

/* What calls by an address hand over; other objects may have functions that take any of it. */
static void find_taken_by_native(Raise *r) {
    for (size_t i = 0; i < r->functions.len; i++)
        if (r->functions.at[i].native)
            regset_join(&r->taken_by_native, &r->functions.at[i].taken);
    if (r->is_object)
        r->taken_by_native = r->isa->abi.passed;
    for (Reg reg = 0; reg < r->isa->reg_count; reg++)
        if (regset_has(&r->taken_by_native, reg) && !raise_passes_in_place(r, reg))
            regset_add(&r->from_state, reg);
}

void raise_effects(Raise *r) {
    map_state(r);
    read_functions(r);
    for (size_t i = 0; i < r->functions.len; i++)
        if (r->functions.at[i].native)
            r->functions.at[i].handed = r->isa->abi.passed;
    until_stable(r, find_lost);
    until_stable(r, find_available);
    until_stable(r, find_live);
    find_taken_by_native(r);
}
