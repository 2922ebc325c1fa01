/* copy.c: what copies and sets memory by itself: cpyp, cpym, cpye, their forms that go forwards only, and setp, setm, sete.
 *
 * Of what the manual leaves open (C6.2, CPYP, CPYM, CPYE): registers are as option A has them, which the prologue makes them. Forwards, both addresses point to their ends and the
 * count is what is left, negated; backwards, they point to their beginnings and the count is what is left. So both ways memory is at the address plus the count. The prologue
 * moves nothing. The main part moves 16 bytes at a time and the epilogue the rest byte by byte. Each does one such step and jumps to itself, so that registers say how far it
 * has come wherever a fault or a signal interrupts it. A store of 16 bytes is made as a whole or not at all, so a step can be made again. */
#include "isa/aarch64/families.h"

/* The operands: of copies, where to, where from, how much; of settings, where to, how much, with what. */
enum { TO = 0, FROM = 1, COUNT = 2, SET_COUNT = 1, SET_VALUE = 2 };

static Val or_at_most(Lifter *l, Val v, u64 most) {
    Val limit = ir_int(l, I64, most);
    return ir_select(l, ir_icmp(l, UGT, v, limit), limit, v);
}

static void clear_flags(Lifter *l) {
    a64_flags_bits(l, ir_int(l, I32, 0));
}

/* -------------------------------------------------------------------------------------------------------------- prologues */

void a64_copy_forwards_begin(Lifter *l, const Insn *in) {
    Val left = or_at_most(l, a64_x(l, in, COUNT), INT64_MAX);
    Val to = ir_add(l, a64_x(l, in, TO), left), from = ir_add(l, a64_x(l, in, FROM), left);
    a64_set(l, in, TO, to);
    a64_set(l, in, FROM, from);
    a64_set(l, in, COUNT, ir_neg(l, left));
    clear_flags(l);
}

/* Backwards where the end of the source is overwritten otherwise. Addresses are compared without their tags. */
static Val goes_backwards(Lifter *l, Val to, Val from, Val left) {
    enum { TAG_BITS = 8 };
    Val t = ir_shl_by(l, to, TAG_BITS), f = ir_shl_by(l, from, TAG_BITS);
    Val end = ir_shl_by(l, ir_add(l, from, left), TAG_BITS);
    return ir_and(l, ir_icmp(l, ULT, f, t), ir_icmp(l, UGT, end, t));
}

void a64_copy_begin(Lifter *l, const Insn *in) {
    Val left = or_at_most(l, a64_x(l, in, COUNT), ((u64)1 << 55) - 1);
    Val to = a64_x(l, in, TO), from = a64_x(l, in, FROM), backwards = goes_backwards(l, to, from, left);
    Val by = ir_select(l, backwards, ir_int(l, I64, 0), left);
    Val count = ir_select(l, backwards, left, ir_neg(l, left));
    a64_set(l, in, TO, ir_add(l, to, by));
    a64_set(l, in, FROM, ir_add(l, from, by));
    a64_set(l, in, COUNT, count);
    clear_flags(l);
}

void a64_set_begin(Lifter *l, const Insn *in) {
    Val left = or_at_most(l, a64_x(l, in, SET_COUNT), INT64_MAX);
    a64_set(l, in, TO, ir_add(l, a64_x(l, in, TO), left));
    a64_set(l, in, SET_COUNT, ir_neg(l, left));
    clear_flags(l);
}

/* ------------------------------------------------------------------------------------------------------------------ steps */

/* A step that is made if as much is left. */
typedef struct Step {
    Label before, done;
    Val count; /* before it */
} Step;

static Step begin_step(Lifter *l, Val count, Val moves) {
    Step s = {.before = ir_where(l), .done = ir_label(l, ""), .count = count};
    Label moving = ir_label(l, "moving");
    ir_branch(l, moves, moving, s.done);
    ir_here(l, moving);
    return s;
}

/* What is left behind it, which operand i becomes. */
static Val end_step(Lifter *l, const Insn *in, int i, const Step *s, Val next) {
    Label after = ir_where(l);
    ir_goto(l, s->done);
    ir_here(l, s->done);
    Val count = ir_phi(l, I64);
    ir_phi_add(count, s->count, s->before);
    ir_phi_add(count, next, after);
    a64_set(l, in, i, count);
    return count;
}

/* Opaque, so that no register of an operand is the base of an address: then a stencil takes any host register for it, which one that jumps has to. */
static Val pointer_at(Lifter *l, Val base, Val offset) {
    return ir_bitcast(l, ir_add(l, ir_opaque(l, base), offset), PTR);
}

/* The registers of a copy, which are read before the blocks of a step need them. */
typedef struct Copy {
    Val to, from, count;
} Copy;

static Copy read_copy(Lifter *l, const Insn *in) {
    return (Copy){a64_x(l, in, TO), a64_x(l, in, FROM), ir_opaque(l, a64_x(l, in, COUNT))};
}

static void move(Lifter *l, const Insn *in, const Copy *c, Val offset, Ty t) {
    Val from = pointer_at(l, c->from, offset), to = pointer_at(l, c->to, offset);
    guest_store(l, in, guest_load(l, in, t, from, 0), to, 0);
}

/* Forwards: the count is negative. */
static Val has_forwards(Lifter *l, Val count, u32 bytes) {
    return ir_icmp(l, SLE, count, ir_int(l, I64, -(u64)bytes));
}

void a64_copy_forwards(Lifter *l, const Insn *in, Ty t) {
    u32 bytes = ty_bits(t) / 8;
    Copy c = read_copy(l, in);
    Step s = begin_step(l, c.count, has_forwards(l, c.count, bytes));
    move(l, in, &c, c.count, t);
    branch(l, in, has_forwards(l, end_step(l, in, COUNT, &s, ir_add_to(l, c.count, bytes)), bytes));
}

/* Either way. */
static Val has_either(Lifter *l, Val count, u32 bytes) {
    Val sign = ir_ashr_by(l, count, 63);
    return ir_icmp(l, SGE, ir_sub(l, ir_xor(l, count, sign), sign), ir_int(l, I64, bytes));
}

/* Backwards, a step is below the address. That is a branch, since a choice takes more registers than stencils have. */
static Val place_of_step(Lifter *l, Val count, u32 bytes) {
    Label before = ir_where(l), down = ir_label(l, "down"), here = ir_label(l, "");
    ir_branch(l, ir_is_negative(l, count), here, down);
    ir_here(l, down);
    Val less = ir_add_to(l, ir_opaque(l, count), -(i64)bytes);
    ir_goto(l, here);
    ir_here(l, here);
    Val at = ir_phi(l, I64);
    ir_phi_add(at, count, before);
    ir_phi_add(at, less, down);
    return ir_opaque(l, at);
}

void a64_copy(Lifter *l, const Insn *in, Ty t) {
    u32 bytes = ty_bits(t) / 8;
    Copy c = read_copy(l, in);
    Step s = begin_step(l, c.count, has_either(l, c.count, bytes));
    Val at = place_of_step(l, c.count, bytes);
    move(l, in, &c, at, t);
    Val more = ir_and_with(l, ir_ashr_by(l, ir_opaque(l, c.count), 63), bytes), next = ir_add(l, at, more);
    branch(l, in, has_either(l, end_step(l, in, COUNT, &s, next), bytes));
}

/* In all bytes. */
static Val value_of(Lifter *l, const Insn *in, Ty t) {
    Val byte = a64_int(l, in, SET_VALUE, I8);
    return t == I8 ? byte : ir_splat(l, byte, ty_bits(t) / 8);
}

void a64_set_memory(Lifter *l, const Insn *in, Ty t) {
    u32 bytes = ty_bits(t) / 8;
    Val count = ir_opaque(l, a64_x(l, in, SET_COUNT)), to = a64_x(l, in, TO), v = value_of(l, in, t);
    Step s = begin_step(l, count, has_forwards(l, count, bytes));
    guest_store(l, in, v, pointer_at(l, to, count), 0);
    branch(l, in, has_forwards(l, end_step(l, in, SET_COUNT, &s, ir_add_to(l, count, bytes)), bytes));
}
