/* access.c: accesses to guest memory that may fault, with a way out.
 *
 * Such an access is one instruction of inline assembly with two ways on: behind it, or at a label, where the values of before are
 * still at hand, since LLVM sees the way there. Its address and the label's are a row of the section LATHE_FAULTS: whoever handles
 * the host's fault goes to the label. What the instructions are is the host's (Host.access). */
#include <stdio.h>
#include <string.h>

#include "ir/ir.h"

/* One row: both as distances from their own place. */
#define ROW "\n.pushsection " LATHE_FAULTS ",\"a\",@progbits\n.long .Lfault${:uid}-., %s-.\n.popsection"

enum { TEXT_BYTES = 192 };

/* How a type is moved; NULL: not by one instruction. */
static const HostMove *move_of(const Lifter *l, Ty t) {
    const HostAccess *access = l->host->access;
    switch (t) {
    case I8:
        return &access->ints[0];
    case I16:
        return &access->ints[1];
    case I32:
        return &access->ints[2];
    case I64:
        return &access->ints[3];
    case F32:
        return &access->floats[0];
    case F64:
        return &access->floats[1];
    default:
        return NULL;
    }
}

/* Operand `memory` of the call is an address in memory of that type. */
static Val branching(Lifter *l, const char *text, const char *constraints, LLVMTypeRef ret, Val *args, u32 count,
                     u32 memory, Ty of, Label fault) {
    LLVMTypeRef types[2];
    for (u32 i = 0; i < count; i++)
        types[i] = LLVMTypeOf(args[i]);
    LLVMTypeRef type = LLVMFunctionType(ret, types, count, false);
    Val code = LLVMGetInlineAsm(type, text, strlen(text), constraints, strlen(constraints), true, false,
                                LLVMInlineAsmDialectATT, false);
    Label on = ir_label(l, "");
    Val call = LLVMBuildCallBr(l->b, type, code, on, &fault, 1, args, count, NULL, 0, "");
    unsigned kind = LLVMGetEnumAttributeKindForName("elementtype", 11);
    LLVMAddCallSiteAttribute(call, memory + 1, LLVMCreateTypeAttribute(l->ctx, kind, ir_type(l, of)));
    ir_here(l, on);
    return call;
}

static void touch(Lifter *l, const char *insn, Val ptr, Label fault) {
    char text[TEXT_BYTES], constraints[64];
    snprintf(text, sizeof(text), ".Lfault${:uid}: %s" ROW, insn, "${1:l}");
    snprintf(constraints, sizeof(constraints), "%s,!i,~{memory}%s", l->host->access->touch_memory,
             l->host->access->touch_clobbers);
    branching(l, text, constraints, LLVMVoidTypeInContext(l->ctx), &ptr, 1, 0, I8, fault);
}

static void claim(Lifter *l, Val ptr, Label fault) {
    u32 around = l->host->access->claim_bytes;
    if (around)
        ptr = ir_bitcast(l, ir_and_with(l, ir_bitcast(l, ptr, I64), -(u64)around), PTR);
    touch(l, l->host->access->claim, ptr, fault);
}

static void look(Lifter *l, Val ptr, Label fault) {
    touch(l, l->host->access->look, ptr, fault);
}

void ir_touch_or(Lifter *l, Val ptr, u32 bytes, bool writes, Label fault) {
    void (*touches)(Lifter * l, Val ptr, Label fault) = writes ? claim : look;
    touches(l, ptr, fault);
    if (bytes > 1)
        touches(l, ir_offset(l, ptr, bytes - 1), fault);
}

Val ir_load_or(Lifter *l, Ty t, Val ptr, Label fault) {
    char text[TEXT_BYTES], constraints[32];
    const HostMove *m = move_of(l, t);
    if (!m) {
        ir_touch_or(l, ptr, (ty_bits(t) + 7) / 8, false, fault);
        return ir_load(l, t, ptr, 1, SPACE_GUEST);
    }
    snprintf(text, sizeof(text), ".Lfault${:uid}: %s" ROW, m->load, "${2:l}");
    snprintf(constraints, sizeof(constraints), "=%s,*m,!i,~{memory}", m->constraint);
    return branching(l, text, constraints, ir_type(l, t), &ptr, 1, 0, t, fault);
}

void ir_store_or(Lifter *l, Val v, Val ptr, Label fault) {
    char text[TEXT_BYTES], constraints[32];
    const HostMove *m = move_of(l, ir_ty(v));
    Val args[] = {ptr, v};
    if (!m) {
        ir_touch_or(l, ptr, (ty_bits(ir_ty(v)) + 7) / 8, true, fault);
        ir_store(l, v, ptr, 1, SPACE_GUEST);
        return;
    }
    snprintf(text, sizeof(text), ".Lfault${:uid}: %s" ROW, m->store, "${2:l}");
    snprintf(constraints, sizeof(constraints), "*m,%s,!i,~{memory}", m->constraint);
    branching(l, text, constraints, LLVMVoidTypeInContext(l->ctx), args, 2, 0, ir_ty(v), fault);
}
