/* families_base.h: meanings of the base instruction set. */
#ifndef ISA_X86_64_FAMILIES_BASE_H
#define ISA_X86_64_FAMILIES_BASE_H

#include "isa/x86_64/x86_64.h"

/* arith.c */
void arith(Lifter *l, const Insn *in, Op op);       /* op0 = op0 op op1 */
void arith_carry(Lifter *l, const Insn *in, Op op); /* with CF */
void compare(Lifter *l, const Insn *in);
void test(Lifter *l, const Insn *in);
void step(Lifter *l, const Insn *in, Op op); /* inc, dec: CF stays */
void negate(Lifter *l, const Insn *in);
void complement(Lifter *l, const Insn *in);
void carry_only(Lifter *l, const Insn *in, Reg f); /* adcx, adox */
void exchange_add(Lifter *l, const Insn *in);
void compare_exchange(Lifter *l, const Insn *in);
void compare_exchange_pair(Lifter *l, const Insn *in); /* cmpxchg8b, cmpxchg16b */

/* move.c */
void move(Lifter *l, const Insn *in);
void move_extend(Lifter *l, const Insn *in, bool is_signed);
void move_if(Lifter *l, const Insn *in, Cond c);
void set_if(Lifter *l, const Insn *in, Cond c);
void load_address(Lifter *l, const Insn *in);
void exchange(Lifter *l, const Insn *in);
void swap_bytes(Lifter *l, const Insn *in);
void move_swapped(Lifter *l, const Insn *in);
void extend_accumulator(Lifter *l, u32 from_bits, u32 to_bits); /* cbw, cwde, cdqe */
void extend_into_rdx(Lifter *l, u32 bits);                      /* cwd, cdq, cqo */
void translate_byte(Lifter *l, const Insn *in);                 /* xlatb */
void load_flags(Lifter *l);                                     /* lahf */
void store_flags(Lifter *l);                                    /* sahf */
void nothing(Lifter *l, const Insn *in);
void set_one_flag(Lifter *l, Reg f, bool value);
void flip_carry(Lifter *l);

/* shift.c */
typedef enum Shift { SHL, SHR, SAR } Shift;
typedef enum Rotate { ROL, ROR } Rotate;
void shift(Lifter *l, const Insn *in, Shift kind);
void rotate(Lifter *l, const Insn *in, Rotate kind);
void rotate_carry(Lifter *l, const Insn *in, Rotate kind);
void shift_double(Lifter *l, const Insn *in, Shift kind);
void shift_no_flags(Lifter *l, const Insn *in, Shift kind); /* shlx, shrx, sarx */
void rotate_no_flags(Lifter *l, const Insn *in);            /* rorx */

/* muldiv.c */
void multiply(Lifter *l, const Insn *in, bool is_signed);
void multiply_signed(Lifter *l, const Insn *in); /* imul: one, two or three operands */
void multiply_no_flags(Lifter *l, const Insn *in);
void divide(Lifter *l, const Insn *in, bool is_signed);

/* bits.c */
typedef enum BitOp { BIT_TEST, BIT_SET, BIT_RESET, BIT_FLIP } BitOp;
void bit_test(Lifter *l, const Insn *in, BitOp op);
void bit_scan(Lifter *l, const Insn *in, bool forward);
void count_bits(Lifter *l, const Insn *in, const char *intrinsic); /* tzcnt, lzcnt */
void population(Lifter *l, const Insn *in);
void and_not(Lifter *l, const Insn *in);
typedef enum LowBit { LOWEST_ONLY, LOWEST_MASK, LOWEST_RESET } LowBit;
void lowest_bit(Lifter *l, const Insn *in, LowBit op); /* blsi, blsmsk, blsr */
void bit_extract(Lifter *l, const Insn *in);
void zero_high_bits(Lifter *l, const Insn *in);
void bit_deposit(Lifter *l, const Insn *in, bool deposit); /* pdep, pext */

/* string.c */
typedef enum StringOp { STRING_MOVE, STRING_STORE, STRING_LOAD, STRING_SCAN, STRING_COMPARE } StringOp;
void string(Lifter *l, const Insn *in, StringOp op, u32 bits);
/* MOVSD and CMPSD name a string instruction and an SSE one. */
void movsd_either(Lifter *l, const Insn *in);
void cmpsd_either(Lifter *l, const Insn *in);

/* flow.c */
void jump_near(Lifter *l, const Insn *in);
void jump_if(Lifter *l, const Insn *in, Cond c);
void jump_if_rcx_zero(Lifter *l, const Insn *in, u32 bits);
typedef enum Loop { LOOP_ALWAYS, LOOP_WHILE_EQUAL, LOOP_WHILE_UNEQUAL } Loop;
void loop_if(Lifter *l, const Insn *in, Loop kind);
void call_near(Lifter *l, const Insn *in);
void return_near(Lifter *l, const Insn *in);
void push_operand(Lifter *l, const Insn *in);
void pop_operand(Lifter *l, const Insn *in);
void push_flags(Lifter *l, const Insn *in, u32 bits);
void pop_flags(Lifter *l, const Insn *in, u32 bits);
void enter_frame(Lifter *l, const Insn *in);
void leave_frame(Lifter *l, const Insn *in);

/* system.c */
void system_call(Lifter *l, const Insn *in);
void ask_host(Lifter *l, const Insn *in, Val override, const char *helper);
void stop(Lifter *l, const Insn *in, LatheTrap trap);
void stop_after(Lifter *l, const Insn *in, LatheTrap trap, u32 info);
void fence(Lifter *l);
void read_segment_base(Lifter *l, const Insn *in, u8 seg);
void write_segment_base(Lifter *l, const Insn *in, u8 seg);

#endif
