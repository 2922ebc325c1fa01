/* float_op.h: what the C function for strict SSE floating point is asked to do, on hosts that do not have the instructions. */
#ifndef ISA_X86_64_FLOAT_OP_H
#define ISA_X86_64_FLOAT_OP_H

/* u64(ptr cpu, u64 a, u64 b, u32 what): on one lane, by the mxcsr of the state, which gets the exceptions. */
#define FLOAT_HELPER "lathe_x86_float"

/* Bits 0–7 of `what`. */
typedef enum FloatOp {
    FLOAT_ADD,
    FLOAT_SUB,
    FLOAT_MUL,
    FLOAT_DIV,
    FLOAT_MIN,
    FLOAT_MAX,
    FLOAT_COMPARE, /* by the predicate in the immediate: ones or zeros */
    FLOAT_COMI,
    FLOAT_UCOMI, /* CF, PF and ZF at their places in rflags */
    FLOAT_SQRT,
    FLOAT_ROUND,
    FLOAT_TO_INT,
    FLOAT_TO_INT_TRUNCATED,
    FLOAT_FROM_INT,
    FLOAT_RESIZE, /* to the other format */
} FloatOp;

/* Bits 8–15: the immediate. Then: doubles instead of singles, of a conversion on the float's side; 64-bit integers. */
enum { FLOAT_DOUBLE = 1 << 16, FLOAT_LONG = 1 << 17 };
#define FLOAT_IMM(imm) ((u32)((imm)&0xff) << 8)

#endif
