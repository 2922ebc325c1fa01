/* float_soft.h: what the C function for floating point in integers is asked to do: one word made of these. */
#ifndef ISA_RISCV64_FLOAT_SOFT_H
#define ISA_RISCV64_FLOAT_SOFT_H

#define RV_SOFT_FLOAT "lathe_riscv64_float" /* u64(ptr cpu, u64 a, u64 b, u64 c, u32 what) */

/* Bits 0–7: the operation. */
typedef enum RvSoftOp {
    RV_FADD,
    RV_FSUB,
    RV_FMUL,
    RV_FDIV,
    RV_FSQRT,
    RV_FMADD,
    RV_FMSUB,
    RV_FNMSUB,
    RV_FNMADD,   /* a*b + c, a*b - c, -(a*b) + c, -(a*b) - c */
    RV_FNARROW,  /* a double into the format */
    RV_FCONVERT, /* from the other format */
    RV_FROUND,
    RV_FROUNDNX, /* to an integral number */
    RV_FTO_INT,
    RV_FFROM_INT,
    RV_FTO_MODULAR, /* a double to 32 bits, modulo 2^32 */
} RvSoftOp;

/* Bits 8–15 and 24–31: the format of operands and result, and the other one. */
typedef enum RvSoftFormat { RV_F16, RV_F32, RV_F64 } RvSoftFormat;

/* Bits 16–23: the rounding mode as instructions have it. Bit 24 of integers: 64 bits; bit 25: signed. */
#define RV_SOFT(op, format, rounding) ((u32)(op) | (u32)(format) << 8 | (u32)(rounding) << 16)
#define RV_SOFT_OTHER(format) ((u32)(format) << 24)
enum { RV_SOFT_LONG = 1 << 24, RV_SOFT_SIGNED = 1 << 25 };

#endif
