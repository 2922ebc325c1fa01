/* stack_use.c: see stack_use.h.
 *
 * Compilers move the stack pointer by constants, once on every path, so the sum over all instructions that lower it is a bound. Where they do
 * not (alloca, arrays of variable size, probing in a loop), an instruction shows it. */
#include "binopt/llvm/lift/stack_use.h"

#include "isa/x86_64/x86_64.h"

enum { RED_ZONE_BYTES = 128 };

static bool is_named(const LatheFunc *fn, const Insn *in, const char *name) {
    return !strcmp(fn->isa->row_name(in->row), name);
}

static bool is_rsp(const Operand *op) {
    return op->kind == OPERAND_REG && op->cls == CLS_GP && op->no == RSP && op->bits == 64;
}

static bool is_frame_pointer(u8 reg) {
    return reg == RBP || reg == R10;
}

/* True if the function writes only rsp to this register, apart from restoring it for its caller. */
static bool is_saved_rsp(const LatheFunc *fn, u8 reg) {
    for (size_t i = 0; i < fn->insns.len; i++) {
        const Insn *in = &fn->insns.at[i];
        bool saves = is_named(fn, in, "mov") && is_rsp(&in->op[1]);
        if (regset_has(&in->writes, reg) && !saves && !is_named(fn, in, "pop"))
            return false;
    }
    return true;
}

static bool compares_rsp(const LatheFunc *fn, const Insn *in) {
    return is_named(fn, in, "cmp") && (is_rsp(&in->op[0]) || is_rsp(&in->op[1]));
}

/* By how much the instruction lowers rsp. Returns false if that is not known. */
static bool lowers(const LatheFunc *fn, const Insn *in, u64 *by) {
    const Operand *to = &in->op[0], *from = &in->op[1];
    *by = 0;
    if (is_named(fn, in, "push") || in->flow == FLOW_CALL)
        *by = 8;
    else if (is_named(fn, in, "pop") && !is_rsp(to))
        return true;
    else if (is_named(fn, in, "leave") || in->flow == FLOW_RETURN)
        return true;
    else if (is_named(fn, in, "sub") && is_imm(in, 1))
        *by = from->disp > 0 ? (u64)from->disp : 0;
    else if (is_named(fn, in, "add") && is_imm(in, 1))
        *by = from->disp < 0 ? (u64)-from->disp : 0;
    else if (is_named(fn, in, "and") && is_imm(in, 1) && from->disp < 0)
        *by = (u64)-from->disp;
    else if (is_named(fn, in, "lea") && from->base == RSP && from->index == REG_NONE)
        *by = from->disp < 0 ? (u64)-from->disp : 0;
    else if (is_named(fn, in, "lea") && is_frame_pointer(from->base) && from->index == REG_NONE)
        return true;
    else if (is_named(fn, in, "mov") && from->kind == OPERAND_REG &&
             (is_frame_pointer(from->no) || is_saved_rsp(fn, from->no)))
        return true;
    else
        return false;
    return true;
}

const char *stack_use_check(const LatheFunc *fn, u64 *bytes, const Insn **odd) {
    u64 sum = RED_ZONE_BYTES;
    for (size_t i = 0; i < fn->insns.len; i++) {
        const Insn *in = &fn->insns.at[i];
        u64 by = 0;
        *odd = in;
        if (!in->row)
            return "it has an instruction that is not supported";
        if (in->special)
            return "it uses x87, MMX, mxcsr or another part of the machine that is not supported";
        if (compares_rsp(fn, in) || (regset_has(&in->writes, RSP) && !lowers(fn, in, &by)))
            return "its stack frame has no fixed size";
        sum += by < (u64)1 << 32 ? by : (u64)1 << 32;
    }
    *bytes += sum;
    return NULL;
}
