/* families_memory.h: the meanings of loads and stores, by file. */
#ifndef ISA_AARCH64_FAMILIES_MEMORY_H
#define ISA_AARCH64_FAMILIES_MEMORY_H

#include "isa/aarch64/aarch64.h"

/* memory.c: op0 and the memory in op1; pairs: op0, op1 and op2 */
void a64_load(Lifter *l, const Insn *in, Ty t, bool is_signed);
void a64_store(Lifter *l, const Insn *in, Ty t);
void a64_load_vector(Lifter *l, const Insn *in, Ty t);
void a64_store_vector(Lifter *l, const Insn *in, Ty t);
void a64_load_pair(Lifter *l, const Insn *in, Ty t, bool is_signed);
void a64_store_pair(Lifter *l, const Insn *in, Ty t);

/* atomic.c: memory is the last operand */
void a64_load_ordered(Lifter *l, const Insn *in, Ty t, Order order, bool is_signed);
void a64_store_ordered(Lifter *l, const Insn *in, Ty t, Order order);
void a64_load_exclusive(Lifter *l, const Insn *in, Ty t, Order order);
void a64_store_exclusive(Lifter *l, const Insn *in, Ty t, Order order); /* op0: whether it failed */
void a64_load_exclusive_pair(Lifter *l, const Insn *in, Ty t, Order order);
void a64_store_exclusive_pair(Lifter *l, const Insn *in, Ty t, Order order);
void a64_compare_and_swap(Lifter *l, const Insn *in, Ty t);
void a64_compare_and_swap_pair(Lifter *l, const Insn *in, Ty t);
void a64_atomic(Lifter *l, const Insn *in, Rmw op, bool inverts, Ty t);
void a64_clear_exclusive(Lifter *l, const Insn *in);
void a64_barrier(Lifter *l, const Insn *in);

/* copy.c: the prologues, and steps of a type's size */
void a64_copy_begin(Lifter *l, const Insn *in);
void a64_copy_forwards_begin(Lifter *l, const Insn *in);
void a64_set_begin(Lifter *l, const Insn *in);
void a64_copy(Lifter *l, const Insn *in, Ty t);
void a64_copy_forwards(Lifter *l, const Insn *in, Ty t);
void a64_set_memory(Lifter *l, const Insn *in, Ty t);

#endif
