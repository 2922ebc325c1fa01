/* convention.c: see convention.h. */
#include "lift/func.h"

static void add_slot(Convention *c, Reg r, Ty ty) {
    c->slot[c->count].reg = r;
    c->slot[c->count].ty = ty;
    c->slot_of[r] = (i8)c->count++;
    regset_add(&c->slotted, r);
}

/* The nth integer register that is passed. Where there are too few places for all, the last one is for the stack pointer: without it, nothing would be known of the function's own
 * frame. */
static Reg hot_int(const Isa *isa, u32 places, u32 n) {
    for (u32 i = 0; i < places; i++)
        if (isa->hot_ints[i] == isa->abi.stack)
            return isa->hot_ints[n];
    return n + 1 == places ? isa->abi.stack : isa->hot_ints[n];
}

void convention_init(Convention *c, const Isa *isa, const Host *host, LatheConvention kind) {
    const HostConvention *has = &host->convention;
    *c = (Convention){.in_registers = kind == LATHE_CONVENTION_REGISTERS && has->ints, .cc = has->cc};
    memset(c->slot_of, -1, sizeof(c->slot_of));
    if (!c->in_registers)
        return;
    u32 ints = isa->hot_int_count < has->ints ? isa->hot_int_count : has->ints;
    for (u32 i = 0; i < ints; i++) {
        Reg r = hot_int(isa, ints, i);
        add_slot(c, r, r == isa->abi.stack ? PTR : I64);
    }
    for (u32 i = 0; i < isa->hot_vector_count && i < has->vectors; i++)
        add_slot(c, isa->hot_vectors[i], facet_native(&isa->regs[isa->hot_vectors[i]]));
    c->vectors = c->count - ints;
}

void convention_narrow(Convention *c, const RegSet *used) {
    while (c->vectors && !regset_has(used, c->slot[c->count - 1].reg)) {
        Reg r = c->slot[c->count - 1].reg;
        c->slot_of[r] = -1;
        regset_remove(&c->slotted, r);
        regset_add(&c->unseen, r);
        c->count--;
        c->vectors--;
    }
}

/* The cpu pointer comes last, behind the integers that a host has places for: vectors are counted by themselves. */
LLVMTypeRef convention_type(Lifter *l, const Convention *c) {
    LLVMTypeRef in[CONVENTION_SLOTS + 1], out[CONVENTION_SLOTS + 1];
    if (!c->in_registers) {
        in[0] = ir_type(l, PTR);
        return LLVMFunctionType(ir_type(l, 0), in, 1, false);
    }
    for (u32 i = 0; i < c->count; i++)
        in[i] = out[i] = ir_type(l, c->slot[i].ty);
    in[c->count] = ir_type(l, PTR);
    out[c->count] = ir_type(l, I64);
    LLVMTypeRef result = LLVMStructTypeInContext(l->ctx, out, c->count + 1, false);
    return LLVMFunctionType(result, in, c->count + 1, false);
}

/* C's conventions keep some registers for the caller; nobody between lifted functions needs that. */
static const char no_saving[] = "no_callee_saved_registers";

void convention_mark_function(Lifter *l, const Convention *c, Val fn) {
    if (!c->in_registers)
        return;
    LLVMSetFunctionCallConv(fn, c->cc);
    LLVMAttributeRef a = LLVMCreateStringAttribute(l->ctx, no_saving, sizeof(no_saving) - 1, "", 0);
    LLVMAddAttributeAtIndex(fn, LLVMAttributeFunctionIndex, a);
}

void convention_mark_call(Lifter *l, const Convention *c, Val call) {
    if (!c->in_registers)
        return;
    LLVMSetInstructionCallConv(call, c->cc);
    LLVMAttributeRef a = LLVMCreateStringAttribute(l->ctx, no_saving, sizeof(no_saving) - 1, "", 0);
    LLVMAddCallSiteAttribute(call, LLVMAttributeFunctionIndex, a);
}
