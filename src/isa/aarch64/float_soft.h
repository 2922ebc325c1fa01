/* float_soft.h: what the C function for floating point in integers is asked to do: one word made of these. */
#ifndef ISA_AARCH64_FLOAT_SOFT_H
#define ISA_AARCH64_FLOAT_SOFT_H

#define A64_SOFT_FLOAT "lathe_aarch64_float" /* u64(ptr cpu, u64 a, u64 b, u64 c, u32 what) */

/* Bits 0–7: the operation. */
typedef enum A64SoftOp {
    A64_FADD,
    A64_FSUB,
    A64_FMUL,
    A64_FNMUL, /* -(a * b) */
    A64_FDIV,
    A64_FABD, /* |a - b| */
    A64_FSQRT,
    A64_FMADD,  /* a * b + c */
    A64_FMSUB,  /* -a * b + c */
    A64_FNMADD, /* -a * b - c */
    A64_FNMSUB, /* a * b - c */
    A64_FMULX,
    A64_FMAX,
    A64_FMIN,
    A64_FMAXNM,
    A64_FMINNM,
    A64_FRECPS,
    A64_FRSQRTS,
    A64_FRECPE,
    A64_FRSQRTE,
    A64_FRECPX,
    A64_FCMP,      /* the flags, N in bit 3; */
    A64_FCMPE,     /* a quiet NaN is invalid, too */
    A64_FEQ,       /* 1 or 0; a quiet NaN is not invalid here, */
    A64_FGE,       /* but with these */
    A64_FGT,       /* two and */
    A64_FACGE,     /* those of */
    A64_FACGT,     /* magnitudes */
    A64_FRINT,     /* to an integral number */
    A64_FRINT_INT, /* the same, limited to integers of so many bits: frint32z and others */
    A64_FCONVERT,  /* from the other format */
    A64_FTO_INT,
    A64_FFROM_INT,
    A64_FTO_JAVASCRIPT, /* fjcvtzs: modulo 2^32; bit 32: was it exact? */
    A64_FTO_BFLOAT,     /* from a single */
} A64SoftOp;

/* Bits 8–9 and 10–11: the format of operands and result, and that of the operand of a conversion. */
typedef enum A64SoftFormat { A64_F16, A64_F32, A64_F64 } A64SoftFormat;

/* Bits 12–14: a SoftRounding, or that of fpcr. */
enum { A64_ROUND_FPCR = 7 };

/* Bit 16 of integers: 64 bits (else 32, or with bit 19: 16); 17: signed; 18: inexact results are told; 24–30: bits behind the binary point. */
#define A64_SOFT(op, format, rounding) ((u32)(op) | (u32)(format) << 8 | (u32)(rounding) << 12)
#define A64_SOFT_FROM(format) ((u32)(format) << 10)
#define A64_SOFT_FRACTION(bits) ((u32)(bits) << 24)
enum { A64_SOFT_LONG = 1 << 16, A64_SOFT_SIGNED = 1 << 17, A64_SOFT_EXACT = 1 << 18, A64_SOFT_SHORT = 1 << 19 };

#endif
