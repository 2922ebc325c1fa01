/* encode.h: instructions as bytes: copies with another memory operand, and the few kinds that are made here. */
#ifndef BINOPT_MACHINE_ENCODE_H
#define BINOPT_MACHINE_ENCODE_H

#include "binopt/x86_64/machine/machine_insn.h"

enum { ENCODE_MAX_BYTES = 24 };

/* True if `to` is in reach of a 32-bit displacement from everywhere in a code area around `from`. */
static inline bool encode_reaches(u64 from, u64 to) {
    i64 distance = (i64)(to - from);
    return distance > -((i64)1 << 31) + (1 << 27) && distance < ((i64)1 << 31) - (1 << 27);
}
static inline bool encode_fits32(i64 v) {
    return v == (i32)v;
}

/* The instruction with another memory operand, for execution at address `at`. Returns the size. `mem` has PC_REG and an
 * address, or registers. */
u32 encode_with_memory(const MachineInsn *in, const Mem *mem, u64 at, u8 *to);
u32 encode_with_address(const MachineInsn *in, u64 address, u64 at, u8 *to);

/* The instruction with a vector register in place of its memory operand. */
u32 encode_with_vector(const MachineInsn *in, u8 vec, u8 *to);

/* True if the number can replace operand `op` of the instruction, a general register that is only read. */
bool encode_takes_number(const MachineInsn *in, u32 op, u64 value);
/* The instruction with that number. `mem`: its memory operand, if it has one. */
u32 encode_with_number(const MachineInsn *in, u32 op, u64 value, const Mem *mem, u64 at, u8 *to);

u32 encode_move_number(u8 reg, u64 value, u8 *to);
/* lea disp(base), reg; does not change flags. */
u32 encode_lea(u8 reg, u8 base, i32 disp, u32 bits, u8 *to);
/* reg = from * by; reg += from; reg = a + b. They have 64 bits unless `bits` says otherwise. */
u32 encode_multiply(u8 reg, u8 from, i32 by, u32 bits, u8 *to);
u32 encode_add(u8 reg, u8 from, u8 *to);
u32 encode_lea_sum(u8 reg, u8 a, u8 b, u8 *to);
/* reg = the sign-extended low half of from. */
u32 encode_extend(u8 reg, u8 from, u8 *to);
/* Sets a vector register from 16 bytes at an address, or to zero. */
u32 encode_load_vector(u8 vec, u64 address, bool newer, u64 at, u8 *to);
/* movaps */
u32 encode_move_vector(u8 vec, u8 from, u8 *to);
u32 encode_zero_vector(u8 vec, bool newer, u8 *to);
/* mov $value, disp(base), 32 bits. */
u32 encode_store_number(u8 base, i32 disp, u32 value, u8 *to);
u32 encode_jump(u64 target, u64 at, u8 *to);
u32 encode_call(u64 target, u64 at, u8 *to);
u32 encode_branch(u8 cond, u64 target, u64 at, u8 *to);

#endif
