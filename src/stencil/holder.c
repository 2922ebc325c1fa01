/* holder.c: who holds the registers while a meaning is made a stencil: host registers, or the guest state, at places that are known when the
 * stencil is copied.
 *
 * What is known only then is the address of a symbol that nobody defines. Places are small numbers, which LLVM takes all addresses for,
 * and become displacements; immediates have 32 bits with a sign; guest addresses may be anything, and are distances from the
 * instruction's.
 *
 * Functions get the state and everything that host registers hold, and end by tail calls that hand them on (host/stencil.h). So LLVM
 * knows that they are in use, and leaves them where they are. */
#include "stencil/holder.h"

#include <stdio.h>

#include "isa/form.h"
#include "lift/func.h"
#include "stencil/stencil.h"

enum { HELD_MAX = 32, CONSTRAINT_MAX = 16 /* bytes for each operand of assembly */, DEFERRED_MAX = 8 };

/* A register whose value is made when it is asked for, or when the stencil ends. */
typedef struct Deferred {
    Reg reg;
    MakeLazy *make; /* NULL: it was set to something else since */
    const void *arg;
} Deferred;

typedef struct Holder {
    Lifter l; /* first */
    LatheConfig cfg;
    const Insn *in;
    Held *held;
    const HostStencil *host;
    Val value[HELD_MAX]; /* of the held registers, as Held.value numbers them */
    u32 values;
    /* What registers that were written had been before, and their names: they must not change before all others have been read, or memory was accessed. */
    Val old[STENCIL_OPERANDS];
    const char *old_in[STENCIL_OPERANDS];
    u32 olds;
    Deferred deferred[DEFERRED_MAX];
    u32 deferred_count;
    bool ended;
} Holder;

/* Assembly that only says which registers values are in. */
static const char no_instruction[] = "";

static Holder *holder_of(Lifter *l) {
    return (Holder *)l;
}

bool holder_is_float(Reg r) {
    return r != REG_NONE && (form_isa->regs[r].kind == REG_FLOAT || form_isa->regs[r].kind == REG_VECTOR);
}

/* --------------------------------------------------------------------------------------------------------------- holes */

/* The range is what the address may be; none: a small number. */
static Val hole(Lifter *l, const char *name, i64 least, i64 end) {
    Val g = LLVMGetNamedGlobal(l->mod, name);
    if (g)
        return g;
    g = LLVMAddGlobal(l->mod, ir_type(l, I8), name);
    LLVMSetAlignment(g, 1);
    LLVMSetVisibility(g, LLVMHiddenVisibility);
    LLVMMetadataRef range[] = {LLVMValueAsMetadata(ir_int(l, I64, (u64)least)),
                               LLVMValueAsMetadata(ir_int(l, I64, (u64)end))};
    if (least || end)
        LLVMGlobalSetMetadata(g, LLVMGetMDKindIDInContext(l->ctx, "absolute_symbol", 15),
                              LLVMMDNodeInContext2(l->ctx, range, 2));
    return g;
}

static Val numbered_hole(Lifter *l, const char *kind, u32 number, i64 least, i64 end) {
    char name[32];
    snprintf(name, sizeof(name), "%s%u", kind, number);
    return hole(l, name, least, end);
}

/* What a host register holds of the guest's; NULL: r is in the state. */
static Val *held_value(Lifter *l, Reg r) {
    Holder *h = holder_of(l);
    for (u32 i = 0; i < h->held->count; i++)
        if (h->held->reg[i] == r)
            return &h->value[h->held->value[i]];
    return NULL;
}

static Val place_of(Lifter *l, Reg r) {
    const Insn *in = holder_of(l)->in;
    const HostStencil *host = holder_of(l)->host;
    for (u32 i = 0; i < in->operand_count; i++)
        if (form_register(&in->op[i]) == r) {
            Val off = host->place_mark ? ir_int(l, I64, host->place_mark + i * host->place_step)
                                       : LLVMConstPtrToInt(numbered_hole(l, HOLE_PLACE, i, 0, 0), ir_type(l, I64));
            return LLVMBuildGEP2(l->b, ir_type(l, I8), l->cpu, &off, 1, "");
        }
    CHECK(!form_may_be_held(r), "a register that may be held is an operand");
    return ir_state(l, form_isa->regs[r].off_bytes);
}

/* In a register. As an address by itself LLVM would have it relative to the code, and stored as 32 bits, since the code model is the small
 * one, whatever it is told of the symbol. */
static Val opaque(Lifter *l, Val v, bool wide) {
    return ir_asm_pure(l, wide ? l->host->load_wide : l->host->load_low, "=r,i", I64, &v, 1);
}

static Val hole_of(Lifter *l, u32 i, FormImmediate kind, Ty t) {
    enum { COUNT_END = 64 };
    if (kind == FORM_COUNT)
        return numbered_hole(l, HOLE_COUNT, i, 0, COUNT_END);
    if (t == I32)
        return numbered_hole(l, HOLE_LOW, i, 0, 0);
    if (kind == FORM_WIDE)
        return numbered_hole(l, HOLE_WIDE, i, 0, 0);
    return numbered_hole(l, HOLE_IMMEDIATE, i, INT32_MIN, (i64)INT32_MAX + 1);
}

static Val hold_immediate(Lifter *l, const Insn *in, int i, Ty t) {
    FormImmediate kind = form_immediate(in, (u32)i);
    if (!in->op[i].disp || kind == FORM_LITERAL)
        return ir_int(l, t, (u64)in->op[i].disp);
    Val v = LLVMConstPtrToInt(hole_of(l, (u32)i, kind, t), ir_type(l, I64));
    if (kind == FORM_WIDE && t != I32)
        v = opaque(l, v, true);
    else if (holder_of(l)->host->loads_constants)
        v = opaque(l, v, false);
    else if (in->op[i].kind == OPERAND_MEM && form_register(&in->op[i]) == REG_NONE)
        v = opaque(l, v, false);
    return ir_trunc(l, v, t);
}

/* ----------------------------------------------------------------------------------------------------------- registers */

static bool computes_target(const Insn *in) {
    return in->flow == FLOW_INDIRECT || in->flow == FLOW_RETURN || in->flow == FLOW_CALL;
}

/* In a register of its own: held registers that jumps are computed from must not be part of an addressing mode, which some are not fit for. */
static Val copy_of(Lifter *l, Val v) {
    return ir_asm_pure(l, holder_of(l)->host->copy, "=&r,r", I64, &v, 1);
}

static Deferred *deferred_of(Lifter *l, Reg r) {
    Holder *h = holder_of(l);
    for (u32 i = 0; i < h->deferred_count; i++)
        if (h->deferred[i].reg == r && h->deferred[i].make)
            return &h->deferred[i];
    return NULL;
}

static Val hold_read(Lifter *l, Reg r, Ty t) {
    const RegInfo *reg = &form_isa->regs[r];
    const Deferred *d = deferred_of(l, r);
    if (d)
        return facet_convert(l, reg, d->make(l, d->arg, r), t);
    const Val *held = held_value(l, r);
    if (held)
        return facet_convert(l, reg, computes_target(holder_of(l)->in) ? copy_of(l, *held) : *held, t);
    Val v = ir_load(l, facet_carrier(reg, t), place_of(l, r), reg->bits / 8, SPACE_STATE);
    return facet_convert(l, reg, v, t);
}

static u32 count_of(const char *const *regs) {
    u32 n = 0;
    while (regs[n])
        n++;
    return n;
}

/* Forms do not tell whether the float that is written is one of those that are read. So LLVM must not write it before it has read all: it could where those with
 * three sources look at them once more, and where one of them is loaded from the state. */
static bool sources_are_read_late(const Holder *h) {
    enum { SOURCES = 3 };
    u32 floats = 0, held = 0;
    for (u32 i = 0; i < h->in->operand_count; i++)
        if (holder_is_float(form_register(&h->in->op[i]))) {
            floats++;
            held += h->held->mask >> i & 1;
        }
    return floats > SOURCES || held < floats;
}

static const char *name_of(const Holder *h, u32 value) {
    for (u32 i = 0; i < STENCIL_GENERALS; i++)
        if (h->host->passed_as[i] == value)
            return h->host->general_name[i];
    return h->host->floats[value - h->host->passed - count_of(h->host->taken)];
}

static void keep_old(Holder *h, const Val *held) {
    CHECK(h->olds < STENCIL_OPERANDS, "a register is written once");
    h->old[h->olds] = *held;
    h->old_in[h->olds++] = name_of(h, (u32)(held - h->value));
}

/* An access that faults finds the registers as they were: the base that it writes, too, and what is loaded where there are several registers. */
static bool is_written_late(const Holder *h, Reg r) {
    u32 before = 0;
    for (u32 i = 0; i < h->in->operand_count; i++) {
        const Operand *op = &h->in->op[i];
        if (op->kind == OPERAND_MEM && (op->base == r || before > 1))
            return true;
        before += form_register(op) != REG_NONE;
    }
    return false;
}

static void forget_deferred(Lifter *l, Reg r) {
    Deferred *d = deferred_of(l, r);
    if (d)
        d->make = NULL;
}

static void hold_write(Lifter *l, Reg r, Val v) {
    const RegInfo *reg = &form_isa->regs[r];
    Val *held = held_value(l, r);
    forget_deferred(l, r);
    if (form_is_dead(holder_of(l)->in, r))
        return;
    if (held) {
        if (is_written_late(holder_of(l), r) || (holder_is_float(r) && sources_are_read_late(holder_of(l))))
            keep_old(holder_of(l), held);
        *held = facet_convert(l, reg, v, facet_native(reg));
        return;
    }
    ir_store(l, facet_convert(l, reg, v, facet_carrier(reg, ir_ty(v))), place_of(l, r), reg->bits / 8, SPACE_STATE);
}

static void hold_write_low(Lifter *l, Reg r, Val v) {
    CHECK(!held_value(l, r), "registers that may be held are written as a whole");
    ir_store(l, v, place_of(l, r), ty_bits(ir_ty(v)) / 8, SPACE_STATE);
}

static void hold_also(Lifter *l, Reg r, Val v) {
    (void)l, (void)r, (void)v;
}

static void hold_copy(Lifter *l, Reg to, Reg from) {
    hold_write(l, to, hold_read(l, from, facet_native(&form_isa->regs[from])));
}

static bool hold_has(Lifter *l, Reg r, Ty t) {
    return (void)l, (void)r, (void)t, false;
}

static void hold_defer(Lifter *l, Reg r, MakeLazy *make, const void *arg) {
    Holder *h = holder_of(l);
    forget_deferred(l, r);
    CHECK(h->deferred_count < DEFERRED_MAX, "a stencil with more deferred registers than expected");
    h->deferred[h->deferred_count++] = (Deferred){r, make, arg};
}

static const void *hold_deferred(Lifter *l, Reg r, MakeLazy *make) {
    const Deferred *d = deferred_of(l, r);
    return d && d->make == make ? d->arg : NULL;
}

static Val hold_place(Lifter *l, Reg r) {
    return held_value(l, r) ? NULL : place_of(l, r);
}

/* What was deferred goes to the state before the stencil is left. */
static void settle_deferred(Lifter *l) {
    Holder *h = holder_of(l);
    for (u32 i = 0; i < h->deferred_count; i++) {
        const Deferred d = h->deferred[i];
        if (d.make && !form_is_dead(h->in, d.reg))
            hold_write(l, d.reg, d.make(l, d.arg, d.reg));
    }
}

/* -------------------------------------------------------------------------------------------------------- control flow */

static LLVMTypeRef type_of_stencils(Lifter *l) {
    u32 passed = holder_of(l)->host->passed;
    LLVMTypeRef args[1 + HELD_MAX] = {ir_type(l, PTR)};
    for (u32 i = 1; i <= passed; i++)
        args[i] = ir_type(l, I64);
    return LLVMFunctionType(ir_type(l, 0), args, 1 + passed, false);
}

/* Operands of assembly, each in a register of its own. */
typedef struct Pinned {
    Val args[HELD_MAX + 1];
    u32 count, len;
    char constraints[CONSTRAINT_MAX * (HELD_MAX + 1)];
} Pinned;

static void pin(Pinned *p, Val v, const char *reg) {
    CHECK(p->count < ARRAY_LEN(p->args), "assembly with more operands than expected");
    p->args[p->count++] = v;
    p->len += (u32)snprintf(p->constraints + p->len, sizeof(p->constraints) - p->len, "%s{%s}", p->len ? "," : "", reg);
}

static void pin_all(Pinned *p, const Val *values, const char *const *regs) {
    for (u32 i = 0; regs[i]; i++)
        pin(p, values[i], regs[i]);
}

/* The value is in that register up to here. */
static void stay(Lifter *l, Val v, const char *reg) {
    Pinned p = {0};
    pin(&p, v, reg);
    ir_asm(l, no_instruction, p.constraints, 0, p.args, p.count);
}

/* What the convention does not pass goes where it was. pc: the guest address that a computed jump leads to, or NULL. */
static void give(Lifter *l, Val pc) {
    const Holder *h = holder_of(l);
    settle_deferred(l);
    const Val *taken = h->value + h->host->passed;
    Pinned p = {0};
    pin_all(&p, taken, h->host->taken);
    for (u32 i = 0; i < h->olds; i++)
        stay(l, h->old[i], h->old_in[i]);
    if (h->held->floats)
        pin_all(&p, taken + count_of(h->host->taken), h->host->floats);
    if (pc)
        pin(&p, pc, h->host->address);
    if (p.count)
        ir_asm(l, no_instruction, p.constraints, 0, p.args, p.count);
}

/* A tail call, once everything was given. */
static void leave(Lifter *l, const char *where) {
    Holder *h = holder_of(l);
    Val fn = LLVMGetNamedFunction(l->mod, where), args[1 + HELD_MAX] = {l->cpu};
    if (!fn) {
        fn = LLVMAddFunction(l->mod, where, type_of_stencils(l));
        LLVMSetFunctionCallConv(fn, h->host->cc);
        LLVMSetVisibility(fn, LLVMHiddenVisibility);
    }
    memcpy(args + 1, h->value, sizeof(Val) * h->host->passed);
    Val call = ir_call(l, fn, args, 1 + h->host->passed);
    LLVMSetInstructionCallConv(call, h->host->cc);
    LLVMSetTailCallKind(call, LLVMTailCallKindMustTail);
    LLVMBuildRetVoid(l->b);
    h->ended = true;
}

/* pc: NULL if it is nobody's matter. */
static void go(Lifter *l, const char *where, Val pc) {
    give(l, pc);
    leave(l, where);
}

static void store_u32(Lifter *l, u32 off_bytes, u32 value) {
    ir_store(l, ir_int(l, I32, value), ir_state(l, off_bytes), 4, SPACE_STATE);
}

static void hold_trap(Lifter *l, const Insn *in, u64 pc, LatheTrap trap, u32 info) {
    (void)in;
    store_u32(l, form_isa->trap_off, trap);
    if (info)
        store_u32(l, form_isa->trap_info_off, info);
    go(l, GO_TRAP, pc_value(l, pc));
}

static void hold_trap_if(Lifter *l, const Insn *in, Val cond, LatheTrap trap) {
    Label rare = ir_label(l, "trap"), often = ir_label(l, "");
    ir_branch_rare(l, cond, rare, often);
    ir_here(l, rare);
    hold_trap(l, in, in->pc, trap, 0);
    holder_of(l)->ended = false;
    ir_here(l, often);
}

static Label hold_fault_exit(Lifter *l, const Insn *in) {
    (void)l, (void)in;
    CHECK(false, "the state is whole at every access of a stencil");
}

static void hold_jump(Lifter *l, const Insn *in) {
    (void)in;
    go(l, GO_TARGET, NULL);
}

static void hold_branch(Lifter *l, const Insn *in, Val cond) {
    (void)in;
    Label yes = ir_label(l, "taken"), no = ir_label(l, "");
    give(l, NULL); /* before it: then LLVM makes the tail calls conditional jumps */
    ir_branch(l, cond, yes, no);
    ir_here(l, yes);
    leave(l, GO_TARGET);
    ir_here(l, no);
    leave(l, GO_NEXT);
}

static void hold_jump_to(Lifter *l, const Insn *in, Val pc) {
    (void)in;
    go(l, GO_LOOKUP, pc);
}

static void hold_call(Lifter *l, const Insn *in, Val pc) {
    if (in->target)
        go(l, GO_CALL, NULL);
    else
        go(l, GO_LOOKUP_CALL, pc);
}

static void hold_return(Lifter *l, const Insn *in, Val pc) {
    (void)in;
    go(l, GO_LOOKUP_RETURN, pc);
}

static void hold_call_out(Lifter *l, const Insn *in, Val fn, bool may_move) {
    (void)l, (void)in, (void)fn, (void)may_move;
    CHECK(false, "stencils leave by traps");
}

static const LiftOps hold_ops = {
    .immediate = hold_immediate,
    .read = hold_read,
    .write = hold_write,
    .write_low = hold_write_low,
    .also = hold_also,
    .copy = hold_copy,
    .has = hold_has,
    .defer = hold_defer,
    .deferred = hold_deferred,
    .place = hold_place,
    .trap_if = hold_trap_if,
    .fault_exit = hold_fault_exit,
    .trap = hold_trap,
    .jump = hold_jump,
    .branch = hold_branch,
    .jump_to = hold_jump_to,
    .call = hold_call,
    .ret = hold_return,
    .call_out = hold_call_out,
};

/* ----------------------------------------------------------------------------------------------------------- functions */

/* Is it an access of the guest's memory? */
static bool is_guest_access(Lifter *l, Val v) {
    return (LLVMIsALoadInst(v) || LLVMIsAStoreInst(v)) && LLVMGetMetadata(v, l->md_scope);
}

enum { ARRANGED_LEAST = 3 };

/* The accesses of an instruction that moves several vectors between memory and registers, in their order. */
typedef struct Accesses {
    Val access[STENCIL_OPERANDS], slot[STENCIL_OPERANDS];
    u32 count;
} Accesses;

static Ty moved_type(Val access) {
    return ir_ty(LLVMIsALoadInst(access) ? access : LLVMGetOperand(access, 0));
}

static bool find_accesses(Lifter *l, Accesses *a) {
    *a = (Accesses){.count = 0};
    for (Val v = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(l->fn)); v; v = LLVMGetNextInstruction(v)) {
        if (!is_guest_access(l, v))
            continue;
        if (!ty_is_vector(moved_type(v)) || a->count == STENCIL_OPERANDS)
            return false;
        a->access[a->count++] = v;
    }
    return a->count >= ARRANGED_LEAST;
}

static Val volatile_access(Val access) {
    LLVMSetVolatile(access, true);
    LLVMSetAlignment(access, 1);
    return access;
}

/* The first `lanes` lanes of v, and any others behind its own. */
static Val with_lanes(Lifter *l, Val v, u32 lanes) {
    enum { LANES_MOST = 16 };
    u32 own = ty_lanes(ir_ty(v));
    int from[LANES_MOST];
    for (u32 i = 0; i < lanes; i++)
        from[i] = (int)(i % own);
    return own == lanes ? v : ir_shuffle(l, v, v, from, lanes);
}

static u32 whole_lanes(Ty t) {
    return ty_lanes(t) * 128 / ty_bits(t);
}

static LLVMTypeRef slot_type(Lifter *l, Ty t) {
    return ir_type(l, ty_vector(ty_int(ty_bits(t) / ty_lanes(t)), 128));
}

/* As a whole vector register, since LLVM would move less by way of other registers. */
static void slot_store(Lifter *l, Val v, Val slot) {
    volatile_access(LLVMBuildStore(l->b, with_lanes(l, v, whole_lanes(ir_ty(v))), slot));
}

static Val slot_load(Lifter *l, Ty t, Val slot) {
    LLVMTypeRef whole = LLVMGetAllocatedType(slot);
    return with_lanes(l, volatile_access(LLVMBuildLoad2(l->b, whole, slot, "")), ty_lanes(t));
}

/* Held registers are where they are passed, and memory has everything that was stored. */
static void stay_all(Lifter *l) {
    const HostStencil *host = holder_of(l)->host;
    Pinned p = {0};
    pin_all(&p, holder_of(l)->value + host->passed + count_of(host->taken), host->floats);
    snprintf(p.constraints + p.len, sizeof(p.constraints) - p.len, "%s~{memory}", p.len ? "," : "");
    ir_asm(l, no_instruction, p.constraints, 0, p.args, p.count);
}

/* What was loaded goes to the host's stack, and comes from there. */
static void arrange_loaded(Lifter *l, const Accesses *a) {
    LLVMPositionBuilderBefore(l->b, LLVMGetNextInstruction(a->access[a->count - 1]));
    Val bridge[STENCIL_OPERANDS];
    for (u32 i = 0; i < a->count; i++) { /* what all others use from now on */
        bridge[i] = LLVMBuildFreeze(l->b, a->access[i], "");
        LLVMReplaceAllUsesWith(a->access[i], bridge[i]);
        LLVMSetOperand(bridge[i], 0, a->access[i]);
    }
    LLVMPositionBuilderBefore(l->b, bridge[0]);
    for (u32 i = 0; i < a->count; i++)
        slot_store(l, a->access[i], a->slot[i]);
    stay_all(l);
    for (u32 i = 0; i < a->count; i++)
        LLVMSetOperand(bridge[i], 0, slot_load(l, moved_type(a->access[i]), a->slot[i]));
}

/* What is to be stored likewise, before any of it is. */
static void arrange_stored(Lifter *l, const Accesses *a) {
    LLVMPositionBuilderBefore(l->b, LLVMGetNextInstruction(a->access[a->count - 1]));
    for (u32 i = 0; i < a->count; i++)
        slot_store(l, LLVMGetOperand(a->access[i], 0), a->slot[i]);
    stay_all(l);
    for (u32 i = 0; i < a->count; i++) {
        LLVMInstructionRemoveFromParent(a->access[i]);
        LLVMSetOperand(a->access[i], 0, slot_load(l, moved_type(a->access[i]), a->slot[i]));
        LLVMInsertIntoBuilder(l->b, a->access[i]);
    }
}

/* LLVM takes held registers for some time to arrange several vectors, which it does behind what was loaded and before what is stored: held registers are as the
 * guest has them wherever an access may fault. */
static void arrange_apart(Lifter *l) {
    Accesses a;
    if (!find_accesses(l, &a))
        return;
    LLVMPositionBuilderBefore(l->b, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(l->fn)));
    for (u32 i = 0; i < a.count; i++)
        a.slot[i] = LLVMBuildAlloca(l->b, slot_type(l, moved_type(a.access[i])), "");
    for (u32 i = 0; i < a.count; i++)
        LLVMSetAlignment(a.slot[i], holder_of(l)->host->stack_align);
    (LLVMIsALoadInst(a.access[0]) ? arrange_loaded : arrange_stored)(l, &a);
}

/* A load from the guest's memory faults where it should even if nobody wants the value; and what it reads may be the state's neighbour
 * for all that LLVM knows: the state is written behind it, not before. */
static void keep_order(Lifter *l) {
    for (Label b = LLVMGetFirstBasicBlock(l->fn); b; b = LLVMGetNextBasicBlock(b))
        for (Val v = LLVMGetFirstInstruction(b); v; v = LLVMGetNextInstruction(v)) {
            bool guest = LLVMGetMetadata(v, l->md_scope);
            if (guest && LLVMIsALoadInst(v) && !LLVMGetFirstUse(v))
                LLVMSetVolatile(v, true);
            if (LLVMIsALoadInst(v) || LLVMIsAStoreInst(v) || LLVMIsAAtomicRMWInst(v) || LLVMIsAAtomicCmpXchgInst(v)) {
                LLVMSetMetadata(v, l->md_scope, NULL);
                LLVMSetMetadata(v, l->md_noalias, NULL);
            }
        }
}

static bool is_floating(Val callee) {
    size_t len;
    return LLVMIsAFunction(callee) && LLVMGetIntrinsicID(callee) &&
           !strncmp(LLVMGetValueName2(callee, &len), "llvm.experimental.constrained.", 30);
}

static bool has_floating_point(Lifter *l) {
    for (Label b = LLVMGetFirstBasicBlock(l->fn); b; b = LLVMGetNextBasicBlock(b))
        for (Val v = LLVMGetFirstInstruction(b); v; v = LLVMGetNextInstruction(v)) {
            Val callee = LLVMIsACallInst(v) ? LLVMGetCalledValue(v) : NULL;
            if (callee && is_floating(callee))
                return true;
        }
    return false;
}

static bool is_helper(Val callee) {
    return callee && LLVMIsAFunction(callee) && LLVMIsDeclaration(callee) && !LLVMGetIntrinsicID(callee) &&
           LLVMGetFunctionCallConv(callee) == LLVMCCallConv;
}

static Val helper_symbol(Lifter *l, Val callee, bool with_state) {
    char name[64];
    size_t len;
    snprintf(name, sizeof(name), "%s%s", with_state ? WITH_STATE : "", LLVMGetValueName2(callee, &len));
    Val fn = LLVMGetNamedFunction(l->mod, name);
    if (!fn)
        fn = LLVMAddFunction(l->mod, name, LLVMGlobalGetValueType(callee));
    LLVMSetVisibility(fn, LLVMHiddenVisibility);
    return fn;
}

/* The call of a helper with its arguments in registers that hold nothing, by way of code that keeps all others. LLVM's own conventions would have it put
 * held registers aside, some of that where no helper is called. */
static void call_by_assembly(Lifter *l, Val call) {
    const HostStencil *host = holder_of(l)->host;
    bool with_state = LLVMGetOperand(call, 0) == l->cpu;
    Pinned p = {.args = {helper_symbol(l, LLVMGetCalledValue(call), with_state)}, .count = 1};
    p.len = (u32)snprintf(p.constraints, CONSTRAINT_MAX, "={%s},i", host->result);
    if (with_state)
        pin(&p, l->cpu, host->state);
    for (u32 i = 0; i + with_state < LLVMGetNumArgOperands(call); i++) {
        CHECK(host->arguments[i], "a helper with more arguments than stencils have registers for");
        pin(&p, LLVMGetOperand(call, i + with_state), host->arguments[i]);
    }
    p.len += (u32)snprintf(p.constraints + p.len, sizeof(p.constraints) - p.len, ",%s", host->call_clobbers);
    LLVMPositionBuilderBefore(l->b, call);
    LLVMReplaceAllUsesWith(call, ir_asm(l, host->call, p.constraints, ir_ty(call), p.args, p.count));
    LLVMInstructionEraseFromParent(call);
}

static bool is_word(Val v) {
    Ty t = ir_ty(v);
    return t == PTR || (!ty_is_vector(t) && !ty_is_float(t) && ty_bits(t) <= 64);
}

/* Arguments and result are words, and there are registers for them. */
static bool is_callable(Lifter *l, Val call) {
    const HostStencil *host = holder_of(l)->host;
    u32 count = LLVMGetNumArgOperands(call), with_state = count && LLVMGetOperand(call, 0) == l->cpu;
    bool good = count - with_state <= count_of(host->arguments) && is_word(call);
    for (u32 i = 0; i < count; i++)
        good &= is_word(LLVMGetOperand(call, i));
    return good;
}

static bool calls_are_callable(Lifter *l) {
    for (Label b = LLVMGetFirstBasicBlock(l->fn); b; b = LLVMGetNextBasicBlock(b))
        for (Val v = LLVMGetFirstInstruction(b); v; v = LLVMGetNextInstruction(v))
            if (LLVMIsACallInst(v) && is_helper(LLVMGetCalledValue(v)) && !is_callable(l, v))
                return false;
    return true;
}

static void keep_held(Lifter *l) {
    for (Label b = LLVMGetFirstBasicBlock(l->fn); b; b = LLVMGetNextBasicBlock(b))
        for (Val v = LLVMGetFirstInstruction(b), next; v; v = next) {
            next = LLVMGetNextInstruction(v);
            if (LLVMIsACallInst(v) && is_helper(LLVMGetCalledValue(v)))
                call_by_assembly(l, v);
        }
}

static void replace_fences(Lifter *l) {
    const HostStencil *host = holder_of(l)->host;
    for (Label b = LLVMGetFirstBasicBlock(l->fn); b; b = LLVMGetNextBasicBlock(b))
        for (Val v = LLVMGetFirstInstruction(b), next; v; v = next) {
            next = LLVMGetNextInstruction(v);
            if (!LLVMIsAFenceInst(v) || LLVMGetOrdering(v) != LLVMAtomicOrderingSequentiallyConsistent)
                continue;
            LLVMPositionBuilderBefore(l->b, v);
            ir_asm(l, host->fence, host->fence_clobbers, 0, NULL, 0);
            LLVMInstructionEraseFromParent(v);
        }
}

static bool is_address(Val v, Val pc) {
    return v == pc || (LLVMIsAConstantExpr(v) && is_address(LLVMGetOperand(v, 0), pc));
}

/* Guest addresses into registers, right before they are used. */
static void widen_addresses(Lifter *l) {
    for (Label b = LLVMGetFirstBasicBlock(l->fn); b; b = LLVMGetNextBasicBlock(b))
        for (Val v = LLVMGetFirstInstruction(b); v; v = LLVMGetNextInstruction(v))
            for (int i = 0; i < LLVMGetNumOperands(v); i++) {
                Val operand = LLVMGetOperand(v, (unsigned)i);
                if (LLVMIsABasicBlock(operand) || !is_address(operand, l->pic_base))
                    continue;
                CHECK(!LLVMIsAPHINode(v), "an address is used where it is made");
                LLVMPositionBuilderBefore(l->b, v);
                Ty t = ir_ty(operand);
                Val number = t == PTR ? LLVMConstPtrToInt(operand, ir_type(l, I64)) : operand;
                LLVMSetOperand(v, (unsigned)i, ir_bitcast(l, opaque(l, number, true), t));
            }
}

/* An address of the state that is used in several blocks would take a register meanwhile, also where LLVM makes a loop of an atomic instruction: it
 * is computed again for each use, of which it becomes a part. */
static void sink_place(LLVMBuilderRef builder, Val access, unsigned operand) {
    Val place = LLVMGetOperand(access, operand);
    if (!LLVMIsAGetElementPtrInst(place))
        return;
    Val copy = LLVMInstructionClone(place);
    LLVMPositionBuilderBefore(builder, access);
    LLVMInsertIntoBuilder(builder, copy);
    LLVMSetOperand(access, operand, copy);
}

void holder_settle(LLVMModuleRef mod) {
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(mod));
    for (Val fn = LLVMGetFirstFunction(mod); fn; fn = LLVMGetNextFunction(fn))
        for (Label b = LLVMGetFirstBasicBlock(fn); b; b = LLVMGetNextBasicBlock(b))
            for (Val v = LLVMGetFirstInstruction(b); v; v = LLVMGetNextInstruction(v)) {
                if (LLVMIsALoadInst(v))
                    sink_place(builder, v, 0);
                else if (LLVMIsAStoreInst(v))
                    sink_place(builder, v, 1);
            }
    LLVMDisposeBuilder(builder);
}

static void make_function(Lifter *l, const char *name) {
    l->fn = LLVMAddFunction(l->mod, name, type_of_stencils(l));
    LLVMSetFunctionCallConv(l->fn, holder_of(l)->host->cc);
    static const char *const attributes[] = {"nounwind", "null_pointer_is_valid", "optsize", "noredzone"};
    for (size_t i = 0; i < ARRAY_LEN(attributes); i++)
        ir_attribute(l, l->fn, OF_FUNCTION, attributes[i], 0);
    if (!holder_of(l)->held->floats)
        ir_attribute(l, l->fn, OF_FUNCTION, "noimplicitfloat", 0);
    LLVMAddTargetDependentFunctionAttr(l->fn, "no-realign-stack", "");
    l->cpu = LLVMGetParam(l->fn, 0);
    ir_attribute(l, l->fn, 1, "nonnull", 0);
    ir_attribute(l, l->fn, 1, "align", 64);
}

static void take(Holder *h, const char *const *regs, Ty t) {
    char constraint[CONSTRAINT_MAX];
    for (; *regs; regs++) {
        snprintf(constraint, sizeof(constraint), "={%s}", *regs);
        h->value[h->values++] = ir_asm(&h->l, no_instruction, constraint, t, NULL, 0);
    }
}

/* The free registers for floating point were written a moment ago: LLVM must know, since instructions that leave a part of their result as it was (conversions of
 * integers) would wait for that. It clears the register before these. It takes the one that was written first, which must not be one that is held. */
static void take_held(Holder *h) {
    for (u32 i = 0; i < h->host->passed; i++)
        h->value[h->values++] = LLVMGetParam(h->l.fn, i + 1);
    take(h, h->host->taken, I64);
    if (!h->held->floats)
        return;
    if (h->host->free_floats)
        ir_asm(&h->l, no_instruction, h->host->free_floats, 0, NULL, 0);
    take(h, h->host->floats, facet_native(&form_isa->regs[form_isa->hot_vectors[0]]));
}

static Val lift(LLVMModuleRef mod, const Host *host, const Insn *in, Held *held, const char *name, bool *callable) {
    Holder h = {.cfg = {.arch = form_isa->arch, .host = host->id, .strict_fp = form_strict_fp},
                .in = in,
                .held = held,
                .host = host->stencil};
    Lifter *l = &h.l;
    Arena arena = {0};
    l->cfg = &h.cfg;
    l->ops = &hold_ops;
    l->arena = &arena;
    ir_begin(l, mod);
    l->strict_fp = form_strict_fp;
    l->pic_base = hole(l, HOLE_PC, 0, 0);
    make_function(l, name);
    ir_here(l, ir_label(l, "entry"));
    take_held(&h);
    form_lift(l, in);
    if (!h.ended)
        go(l, GO_NEXT, NULL);
    canonical_settle(l);
    if (held->floats)
        arrange_apart(l);
    keep_order(l);
    *callable = calls_are_callable(l);
    if (*callable)
        keep_held(l);
    replace_fences(l);
    if (has_floating_point(l)) /* elsewhere LLVM would wait for the x87 behind assembly */
        ir_attribute(l, l->fn, OF_FUNCTION, "strictfp", 0);
    widen_addresses(l);
    ir_end(l);
    arena_free(&arena);
    return l->fn;
}

static bool has_floats(const Insn *in) {
    bool found = false;
    for (u32 i = 0; i < in->operand_count; i++)
        found |= holder_is_float(form_register(&in->op[i]));
    return found;
}

static bool is_vector(Val v) {
    return LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMVectorTypeKind;
}

/* The constants that are stored, too. */
static bool works_on_vectors(Val v) {
    bool found = is_vector(v);
    for (int i = 0; i < LLVMGetNumOperands(v); i++)
        found |= is_vector(LLVMGetOperand(v, (unsigned)i));
    return found;
}

static bool has_vectors(Val fn) {
    for (Label b = LLVMGetFirstBasicBlock(fn); b; b = LLVMGetNextBasicBlock(b))
        for (Val v = LLVMGetFirstInstruction(b); v; v = LLVMGetNextInstruction(v))
            if (works_on_vectors(v))
                return true;
    return false;
}

bool holder_lift(LLVMModuleRef mod, const Host *host, const Insn *in, Held *held, const char *name) {
    bool callable;
    held->floats = has_floats(in);
    Val fn = lift(mod, host, in, held, name, &callable);
    if (callable && !held->floats && has_vectors(fn)) {
        LLVMDeleteFunction(fn);
        held->floats = true;
        fn = lift(mod, host, in, held, name, &callable);
    }
    if (!callable)
        LLVMDeleteFunction(fn);
    return callable;
}
