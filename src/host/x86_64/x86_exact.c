/* x86_exact.c: strict floating point of x86-64 guests by the very instruction: isa/x86_64/fp/fp_exact.h. */
#include <stdio.h>

#include "host/x86_64/x86_parts.h"

static const char *name_of(const Insn *in) {
    return isa_x86_64.row_name(in->row);
}

/* `name $imm, `: the immediate is always the last operand. */
static void format_head(const Insn *in, char *text, size_t size) {
    int last = in->operand_count - 1;
    if (is_imm(in, last))
        snprintf(text, size, "%s $$%u, ", name_of(in), (u32)imm_value(in, last) & 0xff);
    else
        snprintf(text, size, "%s ", name_of(in));
}

static bool in_gp(Ty t) {
    return !ty_is_vector(t) && !ty_is_float(t);
}

static Val run_unary(Lifter *l, const char *head, Ty ret, Val a) {
    char text[64], constraints[16];
    snprintf(text, sizeof(text), "%s$1, $0", head);
    snprintf(constraints, sizeof(constraints), "=%c,%c", in_gp(ret) ? 'r' : 'x', in_gp(ir_ty(a)) ? 'r' : 'x');
    return ir_asm(l, text, constraints, ret, &a, 1);
}

Val x86_exact_unary(Lifter *l, const Insn *in, Ty ret, Val a) {
    char head[48];
    format_head(in, head, sizeof(head));
    return run_unary(l, head, ret, a);
}

Val x86_exact_named(Lifter *l, const char *name, Ty ret, Val a) {
    char head[48];
    snprintf(head, sizeof(head), "%s ", name);
    return run_unary(l, head, ret, a);
}

Val x86_exact_binary(Lifter *l, const Insn *in, Val a, Val b) {
    char head[48], text[64];
    format_head(in, head, sizeof(head));
    snprintf(text, sizeof(text), "%s$2, $0", head);
    return ir_asm(l, text, "=x,0,x", ir_ty(a), (Val[]){a, b}, 2);
}

Val x86_exact_compare(Lifter *l, const Insn *in, Val a, Val b) {
    char text[64];
    snprintf(text, sizeof(text), "%s $2, $1\n\tlahf", name_of(in));
    return ir_asm(l, text, "={ax},x,x,~{flags}", I16, (Val[]){a, b}, 2);
}
