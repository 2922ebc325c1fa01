/* arith.c: add, subtract, logic, compare, and their atomic forms. */
#include "isa/x86_64/families_base.h"

static void set_flags(Lifter *l, Op op, Val a, Val b, Val r) {
    if (op == ADD)
        flags_add(l, a, b, r, SET_ALL);
    else if (op == SUB)
        flags_sub(l, a, b, r, SET_ALL);
    else
        flags_logic(l, r, SET_ALL & ~SET_AF);
}

static bool same_register(const Insn *in) {
    return is_cls(in, 0, CLS_GP) && is_cls(in, 1, CLS_GP) && in->op[0].no == in->op[1].no &&
           in->op[0].high == in->op[1].high;
}

/* A locked read-modify-write; gives the old value. */
static Val locked_op(Lifter *l, const Insn *in, Op op, Val b) {
    static const Rmw rmw[] = {[ADD] = RMW_ADD, [SUB] = RMW_SUB, [AND] = RMW_AND, [OR] = RMW_OR, [XOR] = RMW_XOR};
    guest_access(l, in, address(l, in, 0), width(in, 0) / 8, LOADS | STORES);
    return ir_rmw(l, rmw[op], address(l, in, 0), b, SEQ_CST);
}

/* rsp += 8 and the like: where the register is at hand as a pointer it stays one. */
static bool step_pointer(Lifter *l, const Insn *in, Op op) {
    if (!is_cls(in, 0, CLS_GP) || width(in, 0) != 64 || !is_imm(in, 1) || !reg_has(l, in->op[0].no, PTR))
        return false;
    Reg r = in->op[0].no;
    i64 by = op == ADD ? in->op[1].disp : -in->op[1].disp;
    Val a = operand(l, in, 0), b = operand(l, in, 1);
    Val p = ir_offset(l, reg_read(l, r, PTR), by);
    reg_write(l, r, p);
    set_flags(l, op, a, b, reg_read(l, r, I64));
    return true;
}

void arith(Lifter *l, const Insn *in, Op op) {
    if ((op == ADD || op == SUB) && step_pointer(l, in, op))
        return;
    if ((op == XOR || op == SUB) && same_register(in)) {
        Val zero = ir_zero(l, ty_int(width(in, 0)));
        set_operand(l, in, 0, zero);
        set_flags(l, op, zero, zero, zero);
        return;
    }
    Val b = operand(l, in, 1);
    Val a = locked(in) ? locked_op(l, in, op, b) : operand(l, in, 0);
    Val r = ir_op(l, op, a, b);
    if (!locked(in))
        set_operand(l, in, 0, r);
    set_flags(l, op, a, b, r);
}

/* Replace memory by f(old) atomically: retry until nobody came in between. The new value is made by `make` from the old. */
typedef Val MakeNew(Lifter *l, Val old, const void *arg);

static Val locked_retry(Lifter *l, const Insn *in, MakeNew *make, const void *arg) {
    Val ptr = address(l, in, 0);
    Ty t = ty_int(width(in, 0));
    guest_access(l, in, ptr, width(in, 0) / 8, LOADS | STORES);
    Val first = ir_load(l, t, ptr, 0, SPACE_GUEST);
    Label before = ir_where(l), again = ir_label(l, "retry"), done = ir_label(l, "");
    ir_goto(l, again);
    ir_here(l, again);
    Val expected = ir_phi(l, t);
    ir_phi_add(expected, first, before);
    Val seen = ir_cmpxchg(l, ptr, expected, make(l, expected, arg), SEQ_CST);
    ir_phi_add(expected, seen, ir_where(l));
    ir_branch(l, ir_icmp(l, EQ, seen, expected), done, again);
    ir_here(l, done);
    return expected;
}

typedef struct Carrying {
    Op op;
    Val b, carry;
} Carrying;

static Val with_carry(Lifter *l, Val a, const void *arg) {
    const Carrying *c = arg;
    return ir_op(l, c->op, ir_op(l, c->op, a, c->b), c->carry);
}

/* a + b + in or a - b - in: two steps, of which at most one carries. LLVM turns this form into adc and sbb. If the carries were
 * comparisons, it would make this form of them one by one, and look at the whole function again after each. */
static Val carry_through(Lifter *l, Op op, Val a, Val b, Val in, Val *out) {
    Val first, second, mid = ir_op_carry(l, op, a, b, &first), r = ir_op_carry(l, op, mid, in, &second);
    *out = ir_or(l, first, second);
    return r;
}

void arith_carry(Lifter *l, const Insn *in, Op op) {
    Ty t = ty_int(width(in, 0));
    Carrying c = {op, operand(l, in, 1), flag_int(l, CF, t)};
    Val a = locked(in) ? locked_retry(l, in, with_carry, &c) : operand(l, in, 0);
    Val carry, r = carry_through(l, op, a, c.b, c.carry, &carry);
    if (!locked(in))
        set_operand(l, in, 0, r);
    if (op == ADD)
        flags_adc(l, a, c.b, r, carry);
    else
        flags_sbb(l, a, c.b, r, carry);
}

void compare(Lifter *l, const Insn *in) {
    Val a = operand(l, in, 0), b = operand(l, in, 1);
    flags_sub(l, a, b, ir_sub(l, a, b), SET_ALL);
}

void test(Lifter *l, const Insn *in) {
    Val a = operand(l, in, 0);
    flags_logic(l, same_register(in) ? a : ir_and(l, a, operand(l, in, 1)), SET_ALL & ~SET_AF);
}

void step(Lifter *l, const Insn *in, Op op) {
    Val one = ir_int(l, ty_int(width(in, 0)), 1);
    Val a = locked(in) ? locked_op(l, in, op, one) : operand(l, in, 0);
    Val r = ir_op(l, op, a, one);
    if (!locked(in))
        set_operand(l, in, 0, r);
    if (op == ADD)
        flags_add(l, a, one, r, SET_ALL & ~SET_CF);
    else
        flags_sub(l, a, one, r, SET_ALL & ~SET_CF);
}

static Val minus(Lifter *l, Val a, const void *arg) {
    (void)arg;
    return ir_neg(l, a);
}

void negate(Lifter *l, const Insn *in) {
    Val a = locked(in) ? locked_retry(l, in, minus, NULL) : operand(l, in, 0);
    Val r = ir_neg(l, a);
    if (!locked(in))
        set_operand(l, in, 0, r);
    flags_sub(l, ir_zero(l, ir_ty(a)), a, r, SET_ALL);
}

void complement(Lifter *l, const Insn *in) {
    if (locked(in))
        locked_op(l, in, XOR, ir_ones(l, ty_int(width(in, 0))));
    else
        set_operand(l, in, 0, ir_not(l, operand(l, in, 0)));
}

void carry_only(Lifter *l, const Insn *in, Reg f) {
    Val a = operand(l, in, 0), b = operand(l, in, 1);
    Val out, r = carry_through(l, ADD, a, b, flag_int(l, f, ir_ty(a)), &out);
    set_operand(l, in, 0, r);
    set_flag(l, f, out);
}

/* SDM 2D, XADD: the source gets the old destination first, so that xadd r,r leaves the sum. */
void exchange_add(Lifter *l, const Insn *in) {
    Val b = operand(l, in, 1);
    Val a = locked(in) ? locked_op(l, in, ADD, b) : operand(l, in, 0);
    Val r = ir_add(l, a, b);
    set_operand(l, in, 1, a);
    if (!locked(in))
        set_operand(l, in, 0, r);
    flags_add(l, a, b, r, SET_ALL);
}

/* SDM 2A, CMPXCHG: the accumulator is written on a mismatch only, a destination register on a match only, and memory always:
 * with what it held, on a mismatch. Without a lock prefix it is no atomic: C libraries jump over the prefix while there is
 * but one thread. */
static Val exchange_if_equal(Lifter *l, const Insn *in, Val expected, Val desired) {
    if (is_reg(in, 0))
        return operand(l, in, 0);
    if (!locked(in)) {
        Val seen = operand(l, in, 0);
        set_operand(l, in, 0, ir_select(l, ir_icmp(l, EQ, seen, expected), desired, seen));
        return seen;
    }
    guest_access(l, in, address(l, in, 0), width(in, 0) / 8, LOADS | STORES);
    return ir_cmpxchg(l, address(l, in, 0), expected, desired, SEQ_CST);
}

void compare_exchange(Lifter *l, const Insn *in) {
    u32 w = width(in, 0);
    Val expected = gp(l, RAX, w), desired = operand(l, in, 1), rax = gp(l, RAX, 64);
    Val seen = exchange_if_equal(l, in, expected, desired);
    Val equal = ir_icmp(l, EQ, seen, expected);
    set_gp(l, RAX, seen);
    reg_write(l, RAX, ir_select(l, equal, rax, gp(l, RAX, 64)));
    if (is_reg(in, 0)) {
        Val old = reg_read(l, in->op[0].no, I64);
        set_operand(l, in, 0, desired);
        reg_write(l, in->op[0].no, ir_select(l, equal, reg_read(l, in->op[0].no, I64), old));
    }
    flags_sub(l, expected, seen, ir_sub(l, expected, seen), SET_ALL);
}

static Val join(Lifter *l, Val low, Val high, u32 w) {
    Ty t = ty_int(2 * w);
    return ir_or(l, ir_zext(l, low, t), ir_shl_by(l, ir_zext(l, high, t), w));
}

void compare_exchange_pair(Lifter *l, const Insn *in) {
    u32 w = width(in, 0) / 2;
    Val expected = join(l, gp(l, RAX, w), gp(l, RDX, w), w);
    Val desired = join(l, gp(l, RBX, w), gp(l, RCX, w), w);
    guest_access(l, in, address(l, in, 0), w / 4, LOADS | STORES);
    Val seen = ir_cmpxchg(l, address(l, in, 0), expected, desired, SEQ_CST);
    Val equal = ir_icmp(l, EQ, seen, expected);
    Val low = ir_zext(l, ir_trunc(l, seen, ty_int(w)), I64);
    Val high = ir_zext(l, ir_trunc(l, ir_lshr_by(l, seen, w), ty_int(w)), I64);
    Val rax = ir_select(l, equal, gp(l, RAX, 64), low), rdx = ir_select(l, equal, gp(l, RDX, 64), high);
    reg_write(l, RAX, rax);
    reg_write(l, RDX, rdx);
    set_flag(l, ZF, equal);
}
