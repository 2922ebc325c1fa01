/* simd_string.c: the SSE4.2 string compares: the host's own, of which LLVM joins result and flags into one instruction, or a C
 * function. */
#include "isa/x86_64/families_simd.h"
#include "isa/x86_64/forms.h"
#include "isa/x86_64/simd/simd.h"

/* The arguments of the host's compare: two strings, or two strings each with its length, and the control byte. */
typedef struct Compare {
    Val arg[5];
    u32 arg_count;
    u32 control;
} Compare;

/* SDM 2B, PCMPESTRI: memory need not be aligned. */
static Compare implicit(Lifter *l, const Insn *in) {
    Ty t = simd_ty(in, I8);
    Val a = operand_as(l, in, 0, t), b = operand_as(l, in, 1, t);
    return (Compare){{a, b, imm(l, in, 2, I8)}, 3, (u32)imm_value(in, 2) & 0xff};
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
    return (Compare){{a, a_length, b, b_length, imm(l, in, 2, I8)}, 5, (u32)imm_value(in, 2) & 0xff};
}

static Val ask(Lifter *l, Compare *c, const char *what) {
    return x86_forms(l)->compare_strings(l, what, c->arg, c->arg_count);
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

/* ------------------------------------------------------------------------------------------------------- by a C function */

static Val half(Lifter *l, Val v, u32 i) {
    return ir_extract(l, ir_bitcast(l, v, VECTOR(I64, 2)), i);
}

/* All that it says: block.h. */
static Val ask_function(Lifter *l, const Compare *c) {
    bool sized = c->arg_count == 5;
    Val a = c->arg[0], b = c->arg[sized ? 2 : 1], none = ir_int(l, I64, 0);
    Val args[] = {half(l, a, 0),
                  half(l, a, 1),
                  half(l, b, 0),
                  half(l, b, 1),
                  sized ? ir_sext(l, c->arg[1], I64) : none,
                  sized ? ir_sext(l, c->arg[3], I64) : none,
                  ir_int(l, I32, c->control | (sized ? 0 : STRINGS_IMPLICIT))};
    return ir_helper(l, STRINGS_HELPER, I64, args, 7);
}

static void set_plain_flags(Lifter *l, Val said) {
    static const Reg flags[] = {CF, ZF, SF, OF};
    for (u32 i = 0; i < ARRAY_LEN(flags); i++)
        set_flag(l, flags[i], ir_trunc(l, ir_lshr_by(l, said, 8 + i), I1));
}

/* Bit 6 of the control byte: a mask of lanes instead of bits. Bit 0: words instead of bytes. */
static Val plain_mask(Lifter *l, const Compare *c, Val said) {
    Val bits = ir_trunc(l, ir_lshr_by(l, said, 16), I16);
    Ty t = c->control & 1 ? VECTOR(I16, 8) : VECTOR(I8, 16);
    if (!(c->control & 0x40))
        return ir_insert(l, ir_zero(l, VECTOR(I64, 2)), ir_zext(l, bits, I64), 0);
    Val lanes = ir_trunc(l, bits, ty_int(ty_lanes(t)));
    return ir_sext(l, ir_bitcast(l, lanes, VECTOR(I1, ty_lanes(t))), t);
}

/* -------------------------------------------------------------------------------------------------------------- the results */

static void set_index(Lifter *l, Compare c) {
    if (x86_forms(l)) {
        set_gp(l, RCX, ask(l, &c, "i"));
        set_flags(l, &c);
    } else {
        Val said = ask_function(l, &c);
        set_gp(l, RCX, ir_and_with(l, ir_trunc(l, said, I32), 0xff));
        set_plain_flags(l, said);
    }
}

static void set_mask(Lifter *l, Compare c) {
    if (x86_forms(l)) {
        reg_write(l, XMM0, ask(l, &c, "m"));
        set_flags(l, &c);
    } else {
        Val said = ask_function(l, &c);
        reg_write(l, XMM0, plain_mask(l, &c, said));
        set_plain_flags(l, said);
    }
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
