/* simd_string.c: the SSE4.2 string compares, by the host's own. LLVM joins result and flags into one instruction. */
#include "isa/x86_64/families_simd.h"
#include "isa/x86_64/simd.h"

/* The arguments of the host's compare: two strings, or two strings each with its length, and the control byte. */
typedef struct Compare {
    Val arg[5];
    u32 arg_count;
    const char *stem; /* of the intrinsics' names */
} Compare;

/* SDM 2B, PCMPESTRI: memory need not be aligned. */
static Compare implicit(Lifter *l, const Insn *in) {
    Ty t = simd_ty(in, I8);
    Val a = operand_as(l, in, 0, t), b = operand_as(l, in, 1, t);
    return (Compare){{a, b, imm(l, in, 2, I8)}, 3, "llvm.x86.sse42.pcmpistr"};
}

/* A length counts by its absolute value, and as 16 if that is larger; so a wide one can be cut to size first. */
static Val length(Lifter *l, const Insn *in, Reg r) {
    if (in->operand_bits != 64)
        return gp(l, r, 32);
    Val v = ir_binary(l, "llvm.smax", gp(l, r, 64), ir_int(l, I64, (u64)-16));
    return ir_trunc(l, ir_binary(l, "llvm.smin", v, ir_int(l, I64, 16)), I32);
}

static Compare sized(Lifter *l, const Insn *in) {
    Ty t = simd_ty(in, I8);
    Val a = operand_as(l, in, 0, t), b = operand_as(l, in, 1, t);
    Val a_length = length(l, in, RAX), b_length = length(l, in, RDX);
    return (Compare){{a, a_length, b, b_length, imm(l, in, 2, I8)}, 5, "llvm.x86.sse42.pcmpestr"};
}

static Val ask(Lifter *l, Compare *c, const char *what) {
    const char *name = arena_printf(l->arena, "%s%s128", c->stem, what);
    return ir_intrinsic(l, name, NULL, 0, c->arg, c->arg_count);
}

static Val ask_flag(Lifter *l, Compare *c, const char *what) {
    return ir_trunc(l, ask(l, c, what), I1);
}

static void set_flags(Lifter *l, Compare *c) {
    set_flag(l, CF, ask_flag(l, c, "ic"));
    set_flag(l, ZF, ask_flag(l, c, "iz"));
    set_flag(l, SF, ask_flag(l, c, "is"));
    set_flag(l, OF, ask_flag(l, c, "io"));
}

static void set_index(Lifter *l, Compare c) {
    set_gp(l, RCX, ask(l, &c, "i"));
    set_flags(l, &c);
}

static void set_mask(Lifter *l, Compare c) {
    reg_write(l, XMM0, ask(l, &c, "m"));
    set_flags(l, &c);
}

void string_index(Lifter *l, const Insn *in) {
    set_index(l, implicit(l, in));
}

void string_mask(Lifter *l, const Insn *in) {
    set_mask(l, implicit(l, in));
}

void string_index_sized(Lifter *l, const Insn *in) {
    set_index(l, sized(l, in));
}

void string_mask_sized(Lifter *l, const Insn *in) {
    set_mask(l, sized(l, in));
}
