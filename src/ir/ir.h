/* ir.h: the vocabulary in which instruction semantics are written, over LLVM's C API.
 *
 * This is the only place that builds IR. Everything takes the lifter `l`: where IR is being made (module, builder, the
 * function) together with whoever holds the guest registers (isa/isa.h). Values are typed by LLVM; a `Ty` names the types we
 * use in a small integer, so that a type can be a constant in a table of instructions.
 */
#ifndef IR_IR_H
#define IR_IR_H

#include <llvm-c/Core.h>

#include "base/base.h"
#include "host/host.h"
#include "ir/tuning.h"
#include "lathe/lift.h"

typedef LLVMValueRef Val;

/* ------------------------------------------------------------------------------------------------------------ types */

/* An element, or a vector of `lanes` elements: VECTOR(F32, 4). */
typedef u16 Ty;
enum { I1 = 1, I8, I16, I32, I64, I128, F32, F64, F80, PTR, TY_ELEMS, TY_LANES_LOG2 = 7 };
#define VECTOR(elem, lanes) ((Ty)((elem) | (lanes) << 8))

static inline Ty ty_elem(Ty t) {
    return t & 0xff;
}
static inline u32 ty_lanes(Ty t) {
    return t >> 8 ? t >> 8 : 1;
}
static inline bool ty_is_vector(Ty t) {
    return t >> 8 != 0;
}
u32 ty_bits(Ty t);               /* of the whole type */
Ty ty_int(u32 bits);             /* I1 … I128 */
Ty ty_vector(Ty elem, u32 bits); /* as many lanes of elem as make up bits */
Ty ty_as_int(Ty t);              /* the same lanes as integers: F32 -> I32 */
static inline bool ty_is_float(Ty t) {
    return ty_elem(t) >= F32 && ty_elem(t) <= F80;
}

/* -------------------------------------------------------------------------------------------------------- the lifter */

/* The three kinds of memory never overlap, and every access says which one it means. */
typedef enum Space { SPACE_GUEST, SPACE_STATE, SPACE_COUNT } Space;

typedef struct Lifter Lifter;
struct Lifter {
    const LatheConfig *cfg;
    const Host *host; /* what code is generated for */
    LLVMContextRef ctx;
    LLVMModuleRef mod;
    LLVMBuilderRef b;
    Val fn;  /* the function being built */
    Val cpu; /* its pointer to the guest state */
    LLVMTypeRef types[TY_ELEMS][TY_LANES_LOG2 + 1];
    LLVMValueRef scope[SPACE_COUNT], noalias[SPACE_COUNT]; /* alias metadata per space; NULL: none */
    u32 md_scope, md_noalias;
    Val pic_base;              /* the symbol guest addresses are relative to, or NULL */
    bool strict_fp;            /* floating point as constrained operations */
    const struct LiftOps *ops; /* who holds registers and control flow: isa/isa.h */
    Arena *arena;              /* lives as long as the function's lifting */
    LLVMMetadataRef lines;     /* the scope of debug locations, once ir_lines_begin was called; and the location of */
    LLVMMetadataRef line;      /* what is built now, NULL: that of the instruction it is built before */
    Val address[2];            /* of the memory operands of the current instruction, once computed */
};

void ir_begin(Lifter *l, LLVMModuleRef mod); /* fills the host of l->cfg, types, metadata and the builder */
void ir_end(Lifter *l);
/* lines.c: from here on, what is built has debug locations; with ir_line, of that line. 0: of none in particular. */
void ir_lines_begin(Lifter *l);
void ir_line(Lifter *l, u32 line);
LLVMTypeRef ir_type(Lifter *l, Ty t);
Ty ir_ty(Val v); /* the Ty of a value */

/* -------------------------------------------------------------------------------------------------- constants */

Val ir_int(Lifter *l, Ty t, u64 value); /* a splat if t is a vector; sign-extended to I128 */
Val ir_float(Lifter *l, Ty t, double value);
Val ir_zero(Lifter *l, Ty t);
Val ir_ones(Lifter *l, Ty t);
Val ir_bytes(Lifter *l, Ty t, const void *bytes); /* a vector constant by its little-endian bytes; integer lanes */
bool ir_is_const(Val v, u64 *value);              /* an integer constant of at most 64 bits */
bool ir_is_sext(Val v, Ty t);                     /* is v visibly a sign-extended t? */
bool ir_is_arithmetic(Val v);                     /* the result of an operation: not loaded, converted or chosen */
bool ir_is_sign_of(Val v, Val a);                 /* is v visibly made as a shifted right by all but its top bit? */

/* ---------------------------------------------------------------------------------------------- integers */

Val ir_add(Lifter *l, Val a, Val b);
Val ir_sub(Lifter *l, Val a, Val b);
Val ir_mul(Lifter *l, Val a, Val b);
Val ir_and(Lifter *l, Val a, Val b);
Val ir_or(Lifter *l, Val a, Val b);
Val ir_xor(Lifter *l, Val a, Val b);
Val ir_shl(Lifter *l, Val a, Val b); /* counts below the width, or the result is poison */
Val ir_lshr(Lifter *l, Val a, Val b);
Val ir_ashr(Lifter *l, Val a, Val b);
Val ir_udiv(Lifter *l, Val a, Val b);
Val ir_sdiv(Lifter *l, Val a, Val b);
Val ir_urem(Lifter *l, Val a, Val b);
Val ir_srem(Lifter *l, Val a, Val b);
typedef enum Op { ADD, SUB, MUL, AND, OR, XOR } Op;
Val ir_op(Lifter *l, Op op, Val a, Val b); /* one of the above, for tables of instructions */
Val ir_not(Lifter *l, Val a);
Val ir_neg(Lifter *l, Val a);
Val ir_shl_by(Lifter *l, Val a, u32 count); /* by constants */
Val ir_lshr_by(Lifter *l, Val a, u32 count);
Val ir_ashr_by(Lifter *l, Val a, u32 count);
Val ir_and_with(Lifter *l, Val a, u64 mask);
Val ir_add_to(Lifter *l, Val a, i64 addend);

// clang-format off
typedef enum Pred {
    EQ = LLVMIntEQ, NE = LLVMIntNE, UGT = LLVMIntUGT, UGE = LLVMIntUGE, ULT = LLVMIntULT, ULE = LLVMIntULE,
    SGT = LLVMIntSGT, SGE = LLVMIntSGE, SLT = LLVMIntSLT, SLE = LLVMIntSLE,
} Pred;
// clang-format on
Val ir_icmp(Lifter *l, Pred p, Val a, Val b);
Val ir_is_zero(Lifter *l, Val a);
Val ir_is_negative(Lifter *l, Val a);
/* Is r, which is a + b or a - b, perhaps with a carry, another number than the sum or difference of signed numbers? */
Val ir_add_overflows(Lifter *l, Val a, Val b, Val r);
Val ir_sub_overflows(Lifter *l, Val a, Val b, Val r);
/* The same without a carry: by the host's own flag, if the sum or difference is computed, too. */
Val ir_signed_overflows(Lifter *l, Op op, Val a, Val b);
Val ir_select(Lifter *l, Val cond, Val a, Val b);

/* ----------------------------------------------------------------------------------------------- conversions */

/* To another integer width; the same width is the identity. */
Val ir_trunc(Lifter *l, Val v, Ty t);
Val ir_zext(Lifter *l, Val v, Ty t);
Val ir_sext(Lifter *l, Val v, Ty t);
Val ir_resize(Lifter *l, Val v, Ty t);        /* trunc or zext */
Val ir_bitcast(Lifter *l, Val v, Ty t);       /* same size, also integer <-> pointer */
Val ir_float_bits(Lifter *l, Val v);          /* the bits of a float as I64 */
Val ir_float_of_bits(Lifter *l, Val v, Ty t); /* and back */
Val ir_freeze(Lifter *l, Val v);

/* -------------------------------------------------------------------------------------------------- vectors */

Val ir_extract(Lifter *l, Val vec, u32 lane);
Val ir_insert(Lifter *l, Val vec, Val v, u32 lane);
Val ir_extract_at(Lifter *l, Val vec, Val lane);
Val ir_insert_at(Lifter *l, Val vec, Val v, Val lane);
Val ir_shuffle(Lifter *l, Val a, Val b, const int *lanes, u32 count); /* lanes of a, then of b; -1: poison */
Val ir_splat(Lifter *l, Val v, u32 lanes);
Val ir_low_lane(Lifter *l, Val v, u32 lanes); /* v in lane 0, poison in the others */

/* ------------------------------------------------------------------------------------------- floating point */

typedef enum FPred {
    OEQ = LLVMRealOEQ,
    OGT = LLVMRealOGT,
    OGE = LLVMRealOGE,
    OLT = LLVMRealOLT,
    OLE = LLVMRealOLE,
    ONE = LLVMRealONE,
    ORD = LLVMRealORD,
    UNO = LLVMRealUNO,
    UEQ = LLVMRealUEQ,
    FUGT = LLVMRealUGT,
    FUGE = LLVMRealUGE,
    FULT = LLVMRealULT,
    FULE = LLVMRealULE,
    UNE = LLVMRealUNE,
} FPred;

typedef enum FOp { FADD, FSUB, FMUL, FDIV } FOp;

/* Under l->strict_fp these are LLVM's constrained operations with the dynamic rounding mode and observable exceptions;
 * otherwise plain ones. */
Val ir_fop(Lifter *l, FOp op, Val a, Val b);
Val ir_fsqrt(Lifter *l, Val a);
Val ir_fma(Lifter *l, Val a, Val b, Val c);                    /* a * b + c, rounded once */
Val ir_fcmp(Lifter *l, FPred p, Val a, Val b, bool signaling); /* signaling: a quiet NaN raises invalid, too */
Val ir_is_nan(Lifter *l, Val a);        /* raises nothing under l->strict_fp, and nothing for a quiet one otherwise */
Val ir_result_is_nan(Lifter *l, Val a); /* the same of what arithmetic has made, which is no signaling NaN: cheaper */
Val ir_integral(Lifter *l, const char *how, Val a); /* "trunc", "floor", "ceil", "roundeven", "nearbyint" */
/* The result a of an operation, or nan if it is not a number; or, if `made` is not NULL, nan if it is that one: what the host makes where no operand is a NaN. The choice is
 * made where the bits are looked at (lift/canonical.c): this gives a call that stands for it, of one function for each type. */
Val ir_canonical(Lifter *l, Val a, Val nan, Val made);
Val ir_stand_in(Lifter *l, Ty t); /* that function, if it was called */
bool ir_is_stand_in(Val call);
Val ir_fneg(Lifter *l, Val a);
Val ir_fext(Lifter *l, Val a, Ty t);
Val ir_ftrunc(Lifter *l, Val a, Ty t);
Val ir_int_to_float(Lifter *l, Val a, Ty t);  /* signed */
Val ir_uint_to_float(Lifter *l, Val a, Ty t); /* unsigned; a plain operation also under l->strict_fp */
Val ir_float_to_int(Lifter *l, Val a, Ty t);  /* signed, towards zero; poison if it does not fit */

/* --------------------------------------------------------------------------------------------------- memory */

/* Alignment in bytes, 0 meaning 1. */
Val ir_load(Lifter *l, Ty t, Val ptr, u32 align, Space space);
/* For the metadata noalias of an access that is not to guest memory. */
Val ir_not_guest(LLVMContextRef ctx);
/* Has a load or store that metadata, so that LLVM may let it change places with accesses to guest memory? */
bool ir_is_not_guest(Val access);
void ir_store(Lifter *l, Val v, Val ptr, u32 align, Space space);
void ir_store_lanes(Lifter *l, Val v, Val mask, Val ptr, Space space); /* those lanes of v whose i1 in mask is set */
Val ir_offset(Lifter *l, Val ptr, i64 bytes);                          /* ptr + bytes */
Val ir_index(Lifter *l, Val ptr, Val index, u32 scale_bytes);          /* ptr + index * scale (1, 2, 4, 8, 16) */
Val ir_state(Lifter *l, u32 off_bytes);                                /* a pointer into the guest state */

typedef enum Rmw {
    RMW_XCHG = LLVMAtomicRMWBinOpXchg,
    RMW_ADD = LLVMAtomicRMWBinOpAdd,
    RMW_SUB = LLVMAtomicRMWBinOpSub,
    RMW_AND = LLVMAtomicRMWBinOpAnd,
    RMW_OR = LLVMAtomicRMWBinOpOr,
    RMW_XOR = LLVMAtomicRMWBinOpXor,
    RMW_MAX = LLVMAtomicRMWBinOpMax,
    RMW_MIN = LLVMAtomicRMWBinOpMin,
    RMW_UMAX = LLVMAtomicRMWBinOpUMax,
    RMW_UMIN = LLVMAtomicRMWBinOpUMin,
} Rmw;
/* How other threads see accesses around an atomic one, or a fence. */
typedef enum Order {
    RELAXED = LLVMAtomicOrderingMonotonic,
    ACQUIRE = LLVMAtomicOrderingAcquire,
    RELEASE = LLVMAtomicOrderingRelease,
    ACQ_REL = LLVMAtomicOrderingAcquireRelease,
    SEQ_CST = LLVMAtomicOrderingSequentiallyConsistent,
} Order;
/* These two take any alignment on hosts whose atomics do, and return the old value. */
Val ir_rmw(Lifter *l, Rmw op, Val ptr, Val v, Order order);
Val ir_cmpxchg(Lifter *l, Val ptr, Val expected, Val desired, Order order);
Val ir_load_atomic(Lifter *l, Ty t, Val ptr, Order order);    /* naturally aligned */
void ir_store_atomic(Lifter *l, Val v, Val ptr, Order order); /* likewise */
void ir_fence(Lifter *l, Order order);

/* --------------------------------------------------------------------------------------------- calls, control */

/* An LLVM intrinsic by its base name; `overloads` are the types it is overloaded on. */
Val ir_intrinsic(Lifter *l, const char *name, const Ty *overloads, u32 overload_count, Val *args, u32 arg_count);
Val ir_unary(Lifter *l, const char *name, Val a);         /* overloaded on the operand's type */
Val ir_binary(Lifter *l, const char *name, Val a, Val b); /* likewise */
Val ir_fshl(Lifter *l, Val hi, Val lo, Val count);        /* funnel shifts: counts modulo the width */
Val ir_fshr(Lifter *l, Val hi, Val lo, Val count);
Val ir_op_carry(Lifter *l, Op op, Val a, Val b, Val *carry); /* ADD or SUB, and whether it carries or borrows */

/* A C function of the run-time library, called out of line; ret 0 means void. It may read and write memory through its
 * pointer arguments only. */
Val ir_helper(Lifter *l, const char *name, Ty ret, Val *args, u32 arg_count);
/* A C function void(ptr cpu) of the run-time library, to be called with the whole state in memory. */
Val ir_state_function(Lifter *l, const char *name);
Val ir_call(Lifter *l, Val fn, Val *args, u32 arg_count); /* any function of the module */
/* An attribute of a function, or of its index-th parameter, counted from 1. */
#define OF_FUNCTION ((unsigned)LLVMAttributeFunctionIndex)
void ir_attribute(Lifter *l, Val fn, unsigned index, const char *name, u64 value);
/* An attribute of what is called, at one call only. */
void ir_call_attribute(Val call, const char *name, u64 value);

/* Inline assembly of the host, whose text comes from the host's description or its forms. Never removed, and kept in order
 * with other assembly and with constrained floating point; touches no memory unless the constraints say ~{memory}. */
Val ir_asm(Lifter *l, const char *text, const char *constraints, Ty ret, Val *args, u32 arg_count);
/* Assembly whose result depends on its arguments alone. */
Val ir_asm_pure(Lifter *l, const char *text, const char *constraints, Ty ret, Val *args, u32 arg_count);
/* The same integer, of which LLVM knows nothing: assembly without instructions, for any host. */
Val ir_opaque(Lifter *l, Val v);
/* Assembly with two results of one type, which depend on its arguments alone. */
void ir_asm_both(Lifter *l, const char *text, const char *constraints, Ty ret, Val *args, u32 arg_count,
                 Val results[2]);
/* Assembly that looks at the floating-point environment and changes nothing. */
Val ir_asm_seeing(Lifter *l, const char *text, const char *constraints, Ty ret);

/* The same for an instruction that changes its inputs; what becomes of them is not used. */
void ir_asm_in_place(Lifter *l, const char *text, const char *constraints, Val *args, u32 arg_count);

typedef LLVMBasicBlockRef Label;
Label ir_label(Lifter *l, const char *name); /* a new empty block at the end of the function */
void ir_here(Lifter *l, Label at);           /* go on at the end of that block */
void ir_before(Lifter *l, Val at);           /* or before that instruction */
Label ir_where(Lifter *l);
void ir_goto(Lifter *l, Label to);
void ir_branch(Lifter *l, Val cond, Label yes, Label no);
void ir_branch_rare(Lifter *l, Val cond, Label rare, Label often); /* weighted */
/* access.c: accesses to guest memory on hosts that have exact ones (Host.access); if the host's handler of a fault does as LATHE_FAULTS says, they go on
 * at the label. The last one only looks whether an access would do so. */
Val ir_load_or(Lifter *l, Ty t, Val ptr, Label fault);
void ir_store_or(Lifter *l, Val v, Val ptr, Label fault);
void ir_touch_or(Lifter *l, Val ptr, u32 bytes, bool writes, Label fault);
Val ir_phi(Lifter *l, Ty t); /* at the builder's position, which must be the head of a block */
void ir_phi_add(Val phi, Val v, Label from);

#endif
