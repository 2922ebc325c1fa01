/* families_fp.h: the meanings of SSE floating-point instructions.
 *
 * In fast mode they are plain LLVM operations. In strict mode on a host of the same ISA they are the instruction itself
 * (fp_exact.h); elsewhere calls of a C function (fp_soft.h).
 */
#ifndef ISA_X86_64_FAMILIES_FP_H
#define ISA_X86_64_FAMILIES_FP_H

#include "isa/x86_64/x86_64.h"

/* The four shapes of an SSE operation, and the halves that conversions and MMX forms read. */
enum { SS = F32, SD = F64, PS = VECTOR(F32, 4), PD = VECTOR(F64, 2), PS_HALF = VECTOR(F32, 2) };

/* Deviations of the rows. */
#define FAST_FP "fast floating point: NaN payloads, exception flags, constants folded to nearest; exact with strict_fp"
#define FAST_FLAGS "fast floating point: exception flags; exact with strict_fp"
#define FAST_MINMAX "fast floating point: exception flags, denormals where mxcsr has DAZ; exact with strict_fp"
#define APPROXIMATION "the host CPU's approximation"

/* fp_arith.c */
void fp_binop(Lifter *l, const Insn *in, FOp op, Ty t);
void fp_sqrt(Lifter *l, const Insn *in, Ty t);
void fp_minmax(Lifter *l, const Insn *in, FPred keeps_first, Ty t);
typedef enum Approx { RCP, RSQRT } Approx;
void fp_approx(Lifter *l, const Insn *in, Approx op, Ty t);
void fp_horizontal(Lifter *l, const Insn *in, FOp op, Ty t);
void fp_addsub(Lifter *l, const Insn *in, Ty t);
void fp_dot(Lifter *l, const Insn *in, Ty t);
void fp_round(Lifter *l, const Insn *in, Ty t);

/* fp_compare.c */
void fp_cmp(Lifter *l, const Insn *in, Ty t);
void fp_cmpsd(Lifter *l, const Insn *in); /* the SSE instruction, not the string one */
void fp_comi(Lifter *l, const Insn *in, Ty t, bool signaling);

/* fp_convert.c */
typedef enum Rounding { BY_MXCSR, TO_ZERO } Rounding;
void fp_from_int(Lifter *l, const Insn *in, Ty t);
void fp_from_ints(Lifter *l, const Insn *in, Ty t);
void fp_to_int(Lifter *l, const Insn *in, Rounding r, Ty from);
void fp_to_ints(Lifter *l, const Insn *in, Rounding r, Ty from);
void fp_widen(Lifter *l, const Insn *in, Ty from, Ty to);
void fp_narrow(Lifter *l, const Insn *in, Ty from, Ty to);
void fp_ldmxcsr(Lifter *l, const Insn *in);
void fp_stmxcsr(Lifter *l, const Insn *in);

/* fp_move.c */
typedef enum Alignment { ALIGNED, UNALIGNED } Alignment;
void fp_move(Lifter *l, const Insn *in, Alignment a, Ty t);
void fp_move_scalar(Lifter *l, const Insn *in, Ty t);
void fp_movsd(Lifter *l, const Insn *in); /* the SSE instruction, not the string one */
void fp_move_half(Lifter *l, const Insn *in, u32 half);
void fp_movhlps(Lifter *l, const Insn *in);
void fp_movlhps(Lifter *l, const Insn *in);
void fp_movddup(Lifter *l, const Insn *in);
void fp_dup_lanes(Lifter *l, const Insn *in, u32 odd);
void fp_movmsk(Lifter *l, const Insn *in, Ty t);

/* fp_shuffle.c */
typedef enum Logic { LOGIC_AND, LOGIC_ANDN, LOGIC_OR, LOGIC_XOR } Logic;
void fp_logic(Lifter *l, const Insn *in, Logic op, Ty t);
void fp_shuf(Lifter *l, const Insn *in, Ty t);
void fp_unpack(Lifter *l, const Insn *in, u32 half, Ty t);
void fp_blend(Lifter *l, const Insn *in, Ty t);
void fp_blendv(Lifter *l, const Insn *in, Ty t);
void fp_insertps(Lifter *l, const Insn *in);
void fp_extractps(Lifter *l, const Insn *in);

#endif
