/* string.c: string instructions, alone and repeated.
 *
 * rep movs and rep stos are by far the most frequent: with the direction flag clear they run as a loop that LLVM may turn
 * into memmove-like code; every other form is the same loop with its compare. rsi, rdi and rcx are read before and written
 * after the loop, so that the registers are only touched on the instruction's main line.
 */
#include "isa/x86_64/families_base.h"
#include "isa/x86_64/families_fp.h"

typedef struct Cursor {
    Val src, dst; /* offsets, in the address width */
} Cursor;

typedef struct Step {
    Cursor next;
    Val loaded; /* LOAD: the element; SCAN, COMPARE: left operand */
    Val other;  /* SCAN, COMPARE: right operand */
} Step;

static bool reads_source(StringOp op) {
    return op == STRING_MOVE || op == STRING_LOAD || op == STRING_COMPARE;
}

static bool uses_destination(StringOp op) {
    return op != STRING_LOAD;
}

/* + or - the element size, by the direction flag. */
static Val stride(Lifter *l, u32 bits, Ty addr) {
    Val forward = ir_int(l, addr, bits / 8);
    return ir_select(l, flag(l, DF), ir_neg(l, forward), forward);
}

static Val element(Lifter *l, const Insn *in, Val offset, u8 seg, Ty t) {
    return guest_load(l, in, t, segmented(l, ir_zext(l, offset, I64), seg), 0);
}

/* One element. Only the source can be in another segment. */
static Step do_step(Lifter *l, const Insn *in, StringOp op, Ty t, Cursor at, Val by) {
    Step s = {at, NULL, NULL};
    if (reads_source(op))
        s.loaded = element(l, in, at.src, in->segment, t);
    if (op == STRING_STORE || op == STRING_SCAN)
        s.loaded = gp(l, RAX, ty_bits(t));
    if (op == STRING_SCAN || op == STRING_COMPARE)
        s.other = element(l, in, at.dst, SEG_NONE, t);
    if (op == STRING_MOVE || op == STRING_STORE)
        guest_store(l, in, s.loaded, segmented(l, ir_zext(l, at.dst, I64), SEG_NONE), 0);
    if (reads_source(op))
        s.next.src = ir_add(l, at.src, by);
    if (uses_destination(op))
        s.next.dst = ir_add(l, at.dst, by);
    return s;
}

static void finish(Lifter *l, StringOp op, Cursor at) {
    if (reads_source(op))
        reg_write(l, RSI, at.src);
    if (uses_destination(op))
        reg_write(l, RDI, at.dst);
}

static bool compares(StringOp op) {
    return op == STRING_SCAN || op == STRING_COMPARE;
}

static void once(Lifter *l, const Insn *in, StringOp op, Ty t, Ty addr) {
    Cursor at = {reg_read(l, RSI, addr), reg_read(l, RDI, addr)};
    Step s = do_step(l, in, op, t, at, stride(l, ty_bits(t), addr));
    finish(l, op, s.next);
    if (op == STRING_LOAD)
        set_gp(l, RAX, s.loaded);
    if (compares(op))
        flags_sub(l, s.loaded, s.other, ir_sub(l, s.loaded, s.other), SET_ALL);
}

/* A value that changes around the loop: enters with `start`, and is `next` on the way back. */
typedef struct LoopVar {
    Val phi, start;
} LoopVar;

static LoopVar loop_var(Lifter *l, Val start, Label before) {
    LoopVar v = {ir_phi(l, ir_ty(start)), start};
    ir_phi_add(v.phi, start, before);
    return v;
}

/* At `done`: what the variable is after the loop, which may not have run at all. */
static Val after_loop(Lifter *l, LoopVar v, Val next, Label before, Label last) {
    Val phi = ir_phi(l, ir_ty(next));
    ir_phi_add(phi, v.start, before);
    ir_phi_add(phi, next, last);
    return phi;
}

/* With a count of zero nothing is read, written or changed, the flags included (32-bit addressing still clears the upper
 * halves of the registers it would step: SDM 2B, REP). */
static void repeated(Lifter *l, const Insn *in, StringOp op, Ty t, Ty addr) {
    Val count = reg_read(l, RCX, addr), by = stride(l, ty_bits(t), addr);
    Cursor at = {reg_read(l, RSI, addr), reg_read(l, RDI, addr)};
    Val acc = gp(l, RAX, ty_bits(t));
    Val none = ir_zero(l, t);
    Label before = ir_where(l), body = ir_label(l, "rep"), done = ir_label(l, "");
    ir_branch(l, ir_is_zero(l, count), done, body);

    ir_here(l, body);
    LoopVar n = loop_var(l, count, before);
    LoopVar src = loop_var(l, at.src, before), dst = loop_var(l, at.dst, before);
    Step s = do_step(l, in, op, t, (Cursor){src.phi, dst.phi}, by);
    Val left = ir_add_to(l, n.phi, -1);
    Val stop = ir_is_zero(l, left);
    if (compares(op)) {
        Pred end = in->prefixes & PREFIX_REPNE ? EQ : NE;
        stop = ir_or(l, stop, ir_icmp(l, end, s.loaded, s.other));
    }
    Label last = ir_where(l);
    ir_phi_add(n.phi, left, last);
    ir_phi_add(src.phi, s.next.src, last);
    ir_phi_add(dst.phi, s.next.dst, last);
    ir_branch(l, stop, done, body);

    ir_here(l, done);
    Val end_count = after_loop(l, n, left, before, last);
    Cursor end = {after_loop(l, src, s.next.src, before, last), after_loop(l, dst, s.next.dst, before, last)};
    Val a = NULL, b = NULL;
    if (op == STRING_LOAD)
        a = after_loop(l, (LoopVar){NULL, acc}, s.loaded, before, last);
    if (compares(op)) {
        a = after_loop(l, (LoopVar){NULL, none}, s.loaded, before, last);
        b = after_loop(l, (LoopVar){NULL, none}, s.other, before, last);
    }
    reg_write(l, RCX, end_count);
    finish(l, op, end);
    Val ran = ir_icmp(l, NE, count, ir_zero(l, addr));
    if (op == STRING_LOAD) {
        Val rax = gp(l, RAX, 64);
        set_gp(l, RAX, a);
        reg_write(l, RAX, ir_select(l, ran, gp(l, RAX, 64), rax));
    }
    if (!compares(op))
        return;
    Val old[6];
    for (Reg f = CF; f <= OF; f++)
        old[f - CF] = flag(l, f);
    flags_sub(l, a, b, ir_sub(l, a, b), SET_ALL);
    for (Reg f = CF; f <= OF; f++)
        set_flag(l, f, ir_select(l, ran, flag(l, f), old[f - CF]));
}

void string(Lifter *l, const Insn *in, StringOp op, u32 bits) {
    Ty t = ty_int(bits), addr = ty_int(in->address_bits);
    if (in->prefixes & (PREFIX_REP | PREFIX_REPNE))
        repeated(l, in, op, t, addr);
    else
        once(l, in, op, t, addr);
}

static bool is_sse(const Insn *in) {
    return is_cls(in, 0, CLS_VEC) || is_cls(in, 1, CLS_VEC);
}

void movsd_either(Lifter *l, const Insn *in) {
    if (is_sse(in))
        fp_movsd(l, in);
    else
        string(l, in, STRING_MOVE, 32);
}

void cmpsd_either(Lifter *l, const Insn *in) {
    if (is_sse(in))
        fp_cmpsd(l, in);
    else
        string(l, in, STRING_COMPARE, 32);
}
