/* atomic.c: exclusive and atomic accesses, those that order others, and barriers. All but barriers fault where the address is misaligned. */
#include "isa/aarch64/families.h"

static int last(const Insn *in) {
    return in->operand_count - 1;
}

static Val aligned_address(Lifter *l, const Insn *in, u32 bytes) {
    Val address = a64_address(l, in, last(in));
    guest_want_aligned(l, in, address, bytes);
    return address;
}

/* ------------------------------------------------------------------------------------------------------------- ordered */

void a64_load_ordered(Lifter *l, const Insn *in, Ty t, Order order, bool is_signed) {
    Val address = aligned_address(l, in, ty_bits(t) / 8);
    guest_access(l, in, address, ty_bits(t) / 8, LOADS);
    Val v = ir_load_atomic(l, t, address, order);
    a64_set(l, in, 0, is_signed ? ir_sext(l, v, a64_ty(in, 0)) : v);
}

void a64_store_ordered(Lifter *l, const Insn *in, Ty t, Order order) {
    Val address = aligned_address(l, in, ty_bits(t) / 8), v = a64_int(l, in, 0, t);
    guest_access(l, in, address, ty_bits(t) / 8, STORES);
    ir_store_atomic(l, v, address, order);
}

/* ----------------------------------------------------------------------------------------------------------- exclusive */

/* A reservation is an address and the value that was there. */
void a64_load_exclusive(Lifter *l, const Insn *in, Ty t, Order order) {
    Val address = aligned_address(l, in, ty_bits(t) / 8);
    guest_access(l, in, address, ty_bits(t) / 8, LOADS);
    Val v = ir_load_atomic(l, t, address, order);
    reg_write(l, A64_RESERVED_ADDRESS, address);
    reg_write(l, A64_RESERVED_VALUE, ir_zext(l, v, I64));
    a64_set(l, in, 0, v);
}

/* Two halves of 64 bits may be of different times; then a store that follows finds another value, and fails. */
void a64_load_exclusive_pair(Lifter *l, const Insn *in, Ty t, Order order) {
    u32 bytes = ty_bits(t) / 8;
    Val address = aligned_address(l, in, 2 * bytes), low, high;
    guest_access(l, in, address, 2 * bytes, LOADS);
    if (t == I32) {
        Val both = ir_load_atomic(l, I64, address, order);
        low = ir_trunc(l, both, I32);
        high = ir_trunc(l, ir_lshr_by(l, both, 32), I32);
    } else {
        low = ir_load_atomic(l, t, address, order);
        high = ir_load_atomic(l, t, ir_offset(l, address, bytes), order);
    }
    reg_write(l, A64_RESERVED_ADDRESS, address);
    reg_write(l, A64_RESERVED_VALUE, ir_zext(l, low, I64));
    reg_write(l, A64_RESERVED_HIGH, ir_zext(l, high, I64));
    a64_set(l, in, 0, low);
    a64_set(l, in, 1, high);
}

/* Succeeds (0) if memory still has the value that was reserved. */
static void store_if_reserved(Lifter *l, const Insn *in, Val address, Val expected, Val v, Order order) {
    Val failed = guest_store_if_reserved(l, in, A64_RESERVED_ADDRESS, address, expected, v, order);
    a64_set(l, in, 0, ir_zext(l, failed, I32));
}

void a64_store_exclusive(Lifter *l, const Insn *in, Ty t, Order order) {
    Val address = aligned_address(l, in, ty_bits(t) / 8), v = a64_int(l, in, 1, t);
    store_if_reserved(l, in, address, reg_read(l, A64_RESERVED_VALUE, t), v, order);
}

static Val joined(Lifter *l, Val low, Val high) {
    u32 bits = ty_bits(ir_ty(low));
    Ty t = ty_int(2 * bits);
    return ir_or(l, ir_zext(l, low, t), ir_shl_by(l, ir_zext(l, high, t), bits));
}

/* Faults where an access of 16 bytes does that compares and exchanges. */
static void touch(Lifter *l, const Insn *in, Val address, u32 what) {
    guest_access(l, in, address, 16, what);
    ir_cmpxchg(l, address, ir_int(l, I64, 0), ir_int(l, I64, 0), SEQ_CST); /* writes, whatever is there */
}

/* Where registers have places, the host's instruction for 128 bits is in a function. */
static bool has_places(Lifter *l, const Insn *in, int first) {
    for (int i = first; i < last(in); i++)
        if (in->op[i].no != A64_ZERO && !reg_place(l, in->op[i].no))
            return false;
    return reg_place(l, in->op[first].no == A64_ZERO ? A64_RESERVED_VALUE : in->op[first].no) != NULL;
}

static Val place(Lifter *l, const Insn *in, int i) {
    return in->op[i].no == A64_ZERO ? ir_zero(l, PTR) : reg_place(l, in->op[i].no);
}

static void store_pair_in_place(Lifter *l, const Insn *in, Val address) {
    Label exchange = ir_label(l, "reserved"), before = ir_where(l), done = ir_label(l, "");
    ir_branch(l, ir_icmp(l, EQ, ir_bitcast(l, address, I64), reg_read(l, A64_RESERVED_ADDRESS, I64)), exchange, done);
    ir_here(l, exchange);
    touch(l, in, address, STORES);
    Val args[] = {l->cpu, address, place(l, in, 1), place(l, in, 2)};
    Val failed = ir_helper(l, "lathe_aarch64_store_pair", I64, args, ARRAY_LEN(args));
    Label after = ir_where(l);
    ir_goto(l, done);
    ir_here(l, done);
    Val result = ir_phi(l, I64);
    ir_phi_add(result, ir_int(l, I64, 1), before);
    ir_phi_add(result, failed, after);
    reg_write(l, A64_RESERVED_ADDRESS, ir_ones(l, I64));
    a64_set(l, in, 0, ir_trunc(l, result, I32));
}

void a64_store_exclusive_pair(Lifter *l, const Insn *in, Ty t, Order order) {
    Val address = aligned_address(l, in, 2 * ty_bits(t) / 8);
    if (t == I64 && has_places(l, in, 1)) {
        store_pair_in_place(l, in, address);
        return;
    }
    Val v = joined(l, a64_int(l, in, 1, t), a64_int(l, in, 2, t));
    Val expected = joined(l, reg_read(l, A64_RESERVED_VALUE, t), reg_read(l, A64_RESERVED_HIGH, t));
    store_if_reserved(l, in, address, expected, v, order);
}

/* -------------------------------------------------------------------------------------------------------------- atomic */

static Order order_of(bool acquires, bool releases) {
    return acquires && releases ? ACQ_REL : acquires ? ACQUIRE : releases ? RELEASE : RELAXED;
}

static Order order_of_swap(const Insn *in) {
    return order_of(a64_bits(in->word, 22, 22), a64_bits(in->word, 15, 15));
}

void a64_compare_and_swap(Lifter *l, const Insn *in, Ty t) {
    Val address = aligned_address(l, in, ty_bits(t) / 8), expected = a64_int(l, in, 0, t), v = a64_int(l, in, 1, t);
    guest_access(l, in, address, ty_bits(t) / 8, LOADS | STORES);
    a64_set(l, in, 0, ir_cmpxchg(l, address, expected, v, order_of_swap(in)));
}

void a64_compare_and_swap_pair(Lifter *l, const Insn *in, Ty t) {
    u32 bits = ty_bits(t);
    Val address = aligned_address(l, in, 2 * bits / 8);
    if (t == I64 && has_places(l, in, 0)) {
        touch(l, in, address, LOADS | STORES);
        Val args[] = {l->cpu, address, place(l, in, 0), place(l, in, 2)};
        ir_helper(l, "lathe_aarch64_swap_pair", I64, args, ARRAY_LEN(args));
        return;
    }
    Val expected = joined(l, a64_int(l, in, 0, t), a64_int(l, in, 1, t));
    Val v = joined(l, a64_int(l, in, 2, t), a64_int(l, in, 3, t));
    guest_access(l, in, address, 2 * bits / 8, LOADS | STORES);
    Val seen = ir_cmpxchg(l, address, expected, v, order_of_swap(in));
    a64_set(l, in, 0, ir_trunc(l, seen, t));
    a64_set(l, in, 1, ir_trunc(l, ir_lshr_by(l, seen, bits), t));
}

void a64_atomic(Lifter *l, const Insn *in, Rmw op, bool inverts, Ty t) {
    Val address = aligned_address(l, in, ty_bits(t) / 8), v = a64_int(l, in, 0, t);
    Order order = order_of(a64_bits(in->word, 23, 23), a64_bits(in->word, 22, 22));
    guest_access(l, in, address, ty_bits(t) / 8, LOADS | STORES);
    a64_set(l, in, 1, ir_rmw(l, op, address, inverts ? ir_not(l, v) : v, order));
}

/* ------------------------------------------------------------------------------------------------------------ barriers */

void a64_clear_exclusive(Lifter *l, const Insn *in) {
    (void)in;
    reg_write(l, A64_RESERVED_ADDRESS, ir_ones(l, I64));
}

/* The lowest two bits of the option say what is ordered: 1 loads with all that follows, 2 stores with stores, 3 all. */
void a64_barrier(Lifter *l, const Insn *in) {
    u32 option = (u32)a64_imm(in, 0) & 3;
    bool is_dmb = in->row == A64_ROW_dmb;
    ir_fence(l, is_dmb && option == 1 ? ACQUIRE : is_dmb && option == 2 ? RELEASE : SEQ_CST);
}
