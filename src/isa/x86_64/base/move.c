/* move.c: data movement, extension, conditional moves, and single flags. */
#include "isa/x86_64/families_base.h"

static bool is_full_register(const Insn *in, int i) {
    return is_cls(in, i, CLS_GP) && width(in, i) == 64;
}

/* Segment registers read as Linux's 64-bit user selectors: the flat model needs nothing else. */
static Val read_segment(Lifter *l, const Insn *in) {
    static const u8 selector[] = {0, 0x33, 0x2b, 0, 0, 0}; /* es cs ss ds fs gs */
    return ir_int(l, ty_int(width(in, 0)), selector[in->op[1].no]);
}

void move(Lifter *l, const Insn *in) {
    if (in->flow == FLOW_STOP) /* of a control or debug register */
        stop(l, in, LATHE_TRAP_PRIVILEGED);
    else if (is_cls(in, 0, CLS_SEG))
        trap_if(l, in, ir_int(l, I1, 1), LATHE_TRAP_PRIVILEGED);
    else if (is_cls(in, 1, CLS_SEG))
        set_operand(l, in, 0, read_segment(l, in));
    else if (is_full_register(in, 0) && is_full_register(in, 1))
        reg_copy(l, in->op[0].no, in->op[1].no);
    else
        set_operand(l, in, 0, operand(l, in, 1));
}

/* SDM 2B, MOVSXD: with a 16-bit destination it is a plain move, whatever size Zydis gives the source. */
void move_extend(Lifter *l, const Insn *in, bool is_signed) {
    Ty t = ty_int(width(in, 0));
    Val v = width(in, 1) < width(in, 0) ? operand(l, in, 1) : operand_as(l, in, 1, t);
    set_operand(l, in, 0, is_signed ? ir_sext(l, v, t) : ir_zext(l, v, t));
}

/* The source is read, and a 32-bit destination's upper half cleared, whatever the condition. */
void move_if(Lifter *l, const Insn *in, Cond c) {
    Val new = operand(l, in, 1), old = operand(l, in, 0);
    set_operand(l, in, 0, ir_select(l, condition(l, c), new, old));
}

void set_if(Lifter *l, const Insn *in, Cond c) {
    set_operand(l, in, 0, ir_zext(l, condition(l, c), I8));
}

void load_address(Lifter *l, const Insn *in) {
    Val v = effective_address(l, in, 1);
    Ty t = ty_int(width(in, 0));
    if (ir_ty(v) == PTR && t == I64)
        set_operand(l, in, 0, v);
    else
        set_operand(l, in, 0, ir_resize(l, ir_ty(v) == PTR ? ir_bitcast(l, v, I64) : v, t));
}

/* SDM 2D, XCHG: with memory it is locked, prefix or not. */
void exchange(Lifter *l, const Insn *in) {
    int mem = is_mem(in, 0) ? 0 : 1;
    if (is_mem(in, mem)) {
        Val new = operand(l, in, 1 - mem);
        guest_access(l, in, address(l, in, mem), width(in, 0) / 8, LOADS | STORES);
        set_operand(l, in, 1 - mem, ir_rmw(l, RMW_XCHG, address(l, in, mem), new, SEQ_CST));
        return;
    }
    Val a = operand(l, in, 0), b = operand(l, in, 1);
    set_operand(l, in, 0, b);
    set_operand(l, in, 1, a);
}

/* A 16-bit bswap is undefined; CPUs give zero. */
void swap_bytes(Lifter *l, const Insn *in) {
    if (width(in, 0) == 16)
        set_operand(l, in, 0, ir_zero(l, I16));
    else
        set_operand(l, in, 0, ir_unary(l, "llvm.bswap", operand(l, in, 0)));
}

void move_swapped(Lifter *l, const Insn *in) {
    set_operand(l, in, 0, ir_unary(l, "llvm.bswap", operand(l, in, 1)));
}

void extend_accumulator(Lifter *l, u32 from_bits, u32 to_bits) {
    set_gp(l, RAX, ir_sext(l, gp(l, RAX, from_bits), ty_int(to_bits)));
}

void extend_into_rdx(Lifter *l, u32 bits) {
    set_gp(l, RDX, ir_ashr_by(l, gp(l, RAX, bits), bits - 1));
}

void translate_byte(Lifter *l, const Insn *in) {
    Val base = reg_read(l, RBX, ty_int(in->address_bits));
    Val at = ir_zext(l, ir_add(l, base, ir_zext(l, gp(l, RAX, 8), ir_ty(base))), I64);
    set_gp(l, RAX, guest_load(l, in, I8, segmented(l, at, in->segment), 0));
}

/* SF ZF 0 AF 0 PF 1 CF */
void load_flags(Lifter *l) {
    set_gp_high(l, RAX, ir_trunc(l, rflags(l), I8));
}

void store_flags(Lifter *l) {
    Val ah = ir_trunc(l, ir_lshr_by(l, gp(l, RAX, 64), 8), I8);
    set_rflags(l, ah, 8);
}

void nothing(Lifter *l, const Insn *in) {
    (void)l;
    (void)in;
}

void set_one_flag(Lifter *l, Reg f, bool value) {
    set_flag_const(l, f, value);
}

void flip_carry(Lifter *l) {
    set_flag(l, CF, ir_not(l, flag(l, CF)));
}
