/* string.c: string instructions, alone and repeated.
 *
 * A repeated instruction is a loop around one step. rsi, rdi and rcx are read before and written after it, so that the
 * registers are only touched on the instruction's main line.
 */
#include "isa/x86_64/families_base.h"
#include "isa/x86_64/families_fp.h"
#include "isa/x86_64/forms.h"

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

/* ----------------------------------------------------------------------------------------------------------- repeated */

/* The loop of a repeated instruction: its variables are phis in the body, which begins with `at` and `count`. */
typedef struct RepLoop {
    Label before, last, done;
    Val count, left;
    Cursor at, now;
    Step step;
} RepLoop;

static Val loop_phi(Lifter *l, Val start, Label before) {
    Val phi = ir_phi(l, ir_ty(start));
    ir_phi_add(phi, start, before);
    return phi;
}

/* The body, up to the branch back; goes on in `done`. */
static void loop_body(Lifter *l, const Insn *in, StringOp op, Ty t, RepLoop *loop, Label body) {
    ir_here(l, body);
    Val n = loop_phi(l, loop->count, loop->before);
    loop->now = (Cursor){loop_phi(l, loop->at.src, loop->before), loop_phi(l, loop->at.dst, loop->before)};
    loop->step = do_step(l, in, op, t, loop->now, stride(l, ty_bits(t), ir_ty(n)));
    loop->left = ir_add_to(l, n, -1);
    Val stop = ir_is_zero(l, loop->left);
    if (compares(op)) {
        Pred end = in->prefixes & PREFIX_REPNE ? EQ : NE;
        stop = ir_or(l, stop, ir_icmp(l, end, loop->step.loaded, loop->step.other));
    }
    loop->last = ir_where(l);
    ir_phi_add(n, loop->left, loop->last);
    ir_phi_add(loop->now.src, loop->step.next.src, loop->last);
    ir_phi_add(loop->now.dst, loop->step.next.dst, loop->last);
    ir_branch(l, stop, loop->done, body);
    ir_here(l, loop->done);
}

static RepLoop loop_begin(Lifter *l, Ty addr) {
    Cursor at = {reg_read(l, RSI, addr), reg_read(l, RDI, addr)};
    return (RepLoop){.count = reg_read(l, RCX, addr), .at = at};
}

/* With a count of zero nothing is read, written or changed, the flags included. */
static void loop_run(Lifter *l, const Insn *in, StringOp op, Ty t, RepLoop *loop) {
    loop->before = ir_where(l);
    loop->done = ir_label(l, "");
    Label body = ir_label(l, "rep");
    ir_branch(l, ir_is_zero(l, loop->count), loop->done, body);
    loop_body(l, in, op, t, loop, body);
}

/* At `done`: what `next` is after the loop, or `start` if it did not run. */
static Val after_loop(Lifter *l, const RepLoop *loop, Val start, Val next) {
    Val phi = ir_phi(l, ir_ty(next));
    ir_phi_add(phi, start, loop->before);
    ir_phi_add(phi, next, loop->last);
    return phi;
}

/* Leaves v in a register that the loop steps. With 32-bit addresses that clears its upper half, but only if the loop ran. */
static void set_stepped(Lifter *l, const RepLoop *loop, Reg r, Val v) {
    if (ir_ty(v) == I32)
        v = ir_select(l, ir_is_zero(l, loop->count), gp(l, r, 64), ir_zext(l, v, I64));
    reg_write(l, r, v);
}

static void finish_loop(Lifter *l, StringOp op, const RepLoop *loop, Cursor end, Val count) {
    set_stepped(l, loop, RCX, count);
    if (reads_source(op))
        set_stepped(l, loop, RSI, end.src);
    if (uses_destination(op))
        set_stepped(l, loop, RDI, end.dst);
}

/* rep movs and rep stos are what memcpy and memset are made of on many CPUs: upwards, the host's own instruction does it. */
static bool host_can(Lifter *l, const Insn *in) {
    return x86_forms(l) && in->address_bits == 64 && in->segment == SEG_NONE && !l->cfg->mark_memory;
}

/* movs, stos: where they end does not depend on what they meet. */
static void repeat_transfer(Lifter *l, const Insn *in, StringOp op, Ty t, Ty addr) {
    RepLoop loop = loop_begin(l, addr);
    Val by = stride(l, ty_bits(t), addr), all = ir_mul(l, loop.count, by);
    Cursor end = {ir_add(l, loop.at.src, all), ir_add(l, loop.at.dst, all)};
    gp(l, RAX, ty_bits(t)); /* before the blocks below need it */
    Label done = ir_label(l, "");
    if (host_can(l, in)) {
        Label up = ir_label(l, "up"), down = ir_label(l, "down");
        ir_branch_rare(l, flag(l, DF), down, up);
        ir_here(l, up);
        bool stores = op == STRING_STORE;
        Val other = stores ? gp(l, RAX, ty_bits(t)) : loop.at.src;
        x86_forms(l)->repeat(l, stores, t, loop.at.dst, loop.count, other);
        ir_goto(l, done);
        ir_here(l, down);
    }
    loop_run(l, in, op, t, &loop);
    ir_goto(l, done);
    ir_here(l, done);
    finish_loop(l, op, &loop, end, ir_zero(l, addr));
}

static void repeat_load(Lifter *l, const Insn *in, Ty t, Ty addr) {
    RepLoop loop = loop_begin(l, addr);
    Val acc = gp(l, RAX, ty_bits(t)), rax = gp(l, RAX, 64), ran = ir_not(l, ir_is_zero(l, loop.count));
    loop_run(l, in, STRING_LOAD, t, &loop);
    Val src = after_loop(l, &loop, loop.at.src, loop.step.next.src);
    Val v = after_loop(l, &loop, acc, loop.step.loaded);
    finish_loop(l, STRING_LOAD, &loop, (Cursor){.src = src}, ir_zero(l, addr));
    set_gp(l, RAX, v);
    reg_write(l, RAX, ir_select(l, ran, gp(l, RAX, 64), rax));
}

/* scas, cmps: until the operands differ (repe) or agree (repne). LLVM is not to know what the addresses come from: behind one such loop after the other
 * an address is, for it, a sum with a term for each of them, and 50 repeated comparisons took it 23 ms for each instruction. */
static void repeat_compare(Lifter *l, const Insn *in, StringOp op, Ty t, Ty addr) {
    RepLoop loop = loop_begin(l, addr);
    Val ran = ir_not(l, ir_is_zero(l, loop.count)), none = ir_zero(l, t), old[6];
    gp(l, RAX, ty_bits(t)); /* before the blocks below need it */
    for (Reg f = CF; f <= OF; f++)
        old[f - CF] = flag(l, f);
    loop_run(l, in, op, t, &loop);
    Val count = after_loop(l, &loop, loop.count, loop.left);
    Val src = after_loop(l, &loop, loop.at.src, loop.step.next.src);
    Val dst = after_loop(l, &loop, loop.at.dst, loop.step.next.dst);
    Val a = after_loop(l, &loop, none, loop.step.loaded), b = after_loop(l, &loop, none, loop.step.other);
    finish_loop(l, op, &loop, (Cursor){ir_opaque(l, src), ir_opaque(l, dst)}, count);
    flags_sub(l, a, b, ir_sub(l, a, b), SET_ALL);
    for (Reg f = CF; f <= OF; f++)
        set_flag(l, f, ir_select(l, ran, flag(l, f), old[f - CF]));
}

static void repeated(Lifter *l, const Insn *in, StringOp op, Ty t, Ty addr) {
    if (compares(op))
        repeat_compare(l, in, op, t, addr);
    else if (op == STRING_LOAD)
        repeat_load(l, in, t, addr);
    else
        repeat_transfer(l, in, op, t, addr);
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
