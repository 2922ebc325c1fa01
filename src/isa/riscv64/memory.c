/* memory.c: loads, stores, atomic operations and fences.
 *
 * Loads and stores take any alignment: where the hardware does not, Linux makes up for it. Atomic operations do not: there a
 * misaligned address is a fault.
 */
#include "isa/riscv64/families.h"

void rv_load(Lifter *l, const Insn *in, Ty t, bool is_signed) {
    Val v = guest_load(l, in, t, rv_address(l, in, 1), 0);
    if (t != I32 || !is_signed)
        v = is_signed ? ir_sext(l, v, I64) : ir_zext(l, v, I64);
    rv_set(l, in, 0, v);
}

void rv_store(Lifter *l, const Insn *in, Ty t) {
    Val v = rv_int(l, in, 0, t);
    guest_store(l, in, v, rv_address(l, in, 1), 0);
}

/* ------------------------------------------------------------------------------------------------------------- atomics */

enum { AQ = 1 << 26, RL = 1 << 25 };

static Order order_of(const Insn *in) {
    switch (in->word & (AQ | RL)) {
    case AQ:
        return ACQUIRE;
    case RL:
        return RELEASE;
    case AQ | RL:
        return SEQ_CST;
    default:
        return RELAXED;
    }
}

static Val aligned_address(Lifter *l, const Insn *in, int i, Ty t) {
    Val address = rv_address(l, in, i);
    guest_want_aligned(l, in, address, ty_bits(t) / 8);
    return address;
}

/* A reservation is an address and the value that was there. */
void rv_load_reserved(Lifter *l, const Insn *in, Ty t) {
    Val address = aligned_address(l, in, 1, t);
    Order order = order_of(in);
    guest_access(l, in, address, ty_bits(t) / 8, LOADS);
    Val v = ir_load_atomic(l, t, address, order == RELEASE ? RELAXED : order);
    reg_write(l, RV_RESERVED_ADDRESS, address);
    reg_write(l, RV_RESERVED_VALUE, ir_sext(l, v, I64));
    rv_set(l, in, 0, v);
}

/* Succeeds (0) if memory still has the value that was reserved. */
void rv_store_conditional(Lifter *l, const Insn *in, Ty t) {
    Val address = aligned_address(l, in, 2, t), v = rv_int(l, in, 1, t), expected = reg_read(l, RV_RESERVED_VALUE, t);
    Val failed = guest_store_if_reserved(l, in, RV_RESERVED_ADDRESS, address, expected, v, order_of(in));
    rv_set(l, in, 0, ir_zext(l, failed, I64));
}

/* An exchange whose old value nobody wants, and that nothing after it waits for: how gcc writes atomic stores. */
static bool is_store(const Insn *in, Rmw op) {
    return op == RMW_XCHG && in->op[0].no == RV_X0 && !(in->word & AQ);
}

void rv_amo(Lifter *l, const Insn *in, Rmw op, Ty t) {
    Val address = aligned_address(l, in, 2, t), v = rv_int(l, in, 1, t);
    guest_access(l, in, address, ty_bits(t) / 8, LOADS | STORES);
    if (is_store(in, op))
        ir_store_atomic(l, v, address, order_of(in));
    else
        rv_set(l, in, 0, ir_rmw(l, op, address, v, order_of(in)));
}

/* -------------------------------------------------------------------------------------------------------------- fences */

/* Which accesses before it are ordered with which after it; devices' (bits 3 and 2) are not a user program's. */
enum { WRITES = 1, READS = 2 };

/* A write before and a read after it need the full fence, but in fence.tso (mode 8). */
void rv_fence(Lifter *l, const Insn *in) {
    u32 before = in->word >> 24 & 3, after = in->word >> 20 & 3;
    bool tso = in->word >> 28 == 8;
    if (!before || !after)
        return;
    if (before & WRITES && after & READS && !tso)
        ir_fence(l, SEQ_CST);
    else if (before == READS)
        ir_fence(l, ACQUIRE);
    else
        ir_fence(l, before & READS ? ACQ_REL : RELEASE);
}
