/* access.c: accesses to guest memory that may fault, with a way out.
 *
 * Such an access is one instruction of inline assembly with two ways on: behind it, or at a label, where the values of before are
 * still at hand, since LLVM sees the way there. Its address and the label's are a row of the section LATHE_FAULTS: whoever handles
 * the host's fault goes to the label. */
#include <stdio.h>
#include <string.h>

#include "ir/ir.h"

/* One row: both as distances from their own place. */
#define ROW                                                                                                            \
    "\n.pushsection " LATHE_FAULTS ",\"a\",@progbits\n.long .Lfault${:uid}-., %s-.\n.popsection"

enum { TEXT_BYTES = 192 };

/* How a type is moved; of a value in a register ($1 to memory, $0 from it) by its size. NULL: not by one instruction. */
typedef struct Move {
    const char *load, *store, *constraint;
} Move;

static const Move *move_of(Ty t) {
    static const Move byte = {"movzbl $1, ${0:k}", "movb ${1:b}, $0", "r"}, half = {"movzwl $1, ${0:k}", "movw ${1:w}, $0", "r"},
                      word = {"movl $1, ${0:k}", "movl ${1:k}, $0", "r"}, full = {"movq $1, ${0:q}", "movq ${1:q}, $0", "r"},
                      f32 = {"movss $1, $0", "movss $1, $0", "x"}, f64 = {"movsd $1, $0", "movsd $1, $0", "x"};
    switch (t) {
    case I8: return &byte;
    case I16: return &half;
    case I32: return &word;
    case I64: return &full;
    case F32: return &f32;
    case F64: return &f64;
    default: return NULL;
    }
}

/* Operand `memory` of the call is an address in memory of that type. */
static Val branching(Lifter *l, const char *text, const char *constraints, LLVMTypeRef ret, Val *args, u32 count, u32 memory, Ty of,
                     Label fault) {
    LLVMTypeRef types[2];
    for (u32 i = 0; i < count; i++)
        types[i] = LLVMTypeOf(args[i]);
    LLVMTypeRef type = LLVMFunctionType(ret, types, count, false);
    Val code = LLVMGetInlineAsm(type, text, strlen(text), constraints, strlen(constraints), true, false, LLVMInlineAsmDialectATT, false);
    Label on = ir_label(l, "");
    Val call = LLVMBuildCallBr(l->b, type, code, on, &fault, 1, args, count, NULL, 0, "");
    unsigned kind = LLVMGetEnumAttributeKindForName("elementtype", 11);
    LLVMAddCallSiteAttribute(call, memory + 1, LLVMCreateTypeAttribute(l->ctx, kind, ir_type(l, of)));
    ir_here(l, on);
    return call;
}

static void touch(Lifter *l, const char *insn, Val ptr, Label fault) {
    char text[TEXT_BYTES];
    snprintf(text, sizeof(text), ".Lfault${:uid}: %s" ROW, insn, "${1:l}");
    branching(l, text, "*m,!i,~{memory},~{flags},~{dirflag},~{fpsr}", LLVMVoidTypeInContext(l->ctx), &ptr, 1, 0, I8, fault);
}

void ir_touch_or(Lifter *l, Val ptr, u32 bytes, bool writes, Label fault) {
    const char *insn = writes ? "lock orb $$0, $0" : "testb $$0, $0";
    touch(l, insn, ptr, fault);
    if (bytes > 1)
        touch(l, insn, ir_offset(l, ptr, bytes - 1), fault);
}

Val ir_load_or(Lifter *l, Ty t, Val ptr, Label fault) {
    char text[TEXT_BYTES], constraints[32];
    const Move *m = move_of(t);
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
    const Move *m = move_of(ir_ty(v));
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
