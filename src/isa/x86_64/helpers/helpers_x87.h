/* helpers_x87.h: the guest's x87 unit in C: its stack, its status and control words, its memory images. */
#ifndef ISA_X86_64_HELPERS_X87_H
#define ISA_X86_64_HELPERS_X87_H

#include "base/base.h"
#include "lathe/types.h"

/* The status word. The exceptions have the same places in the control word, where they are masks. */
enum {
    FPU_IE = 0x01,
    FPU_DE = 0x02,
    FPU_ZE = 0x04,
    FPU_OE = 0x08,
    FPU_UE = 0x10,
    FPU_PE = 0x20,
    FPU_EXCEPTIONS = 0x3f,
    FPU_BEFORE = FPU_IE | FPU_DE | FPU_ZE, /* these come before a result */
    FPU_SF = 0x40,
    FPU_ES = 0x80,
    FPU_B = 0x8000,
    FPU_C0 = 0x0100,
    FPU_C1 = 0x0200,
    FPU_C2 = 0x0400,
    FPU_C3 = 0x4000,
    FPU_CODES = FPU_C0 | FPU_C1 | FPU_C2 | FPU_C3,
    FPU_TOP = 0x3800,
};

/* Control words have bit 6 set and no others besides masks, precision, rounding and infinity control. */
enum { FPU_CW_INITIAL = 0x037f, FPU_CW_BITS = 0x1f3f, FPU_CW_ONES = 0x0040 };

/* -------------------------------------------------------------------------------------------------------- registers */

static inline u8 fpu_tag_bit(const LatheX86Cpu *cpu, u32 i) {
    return (u8)(1 << ((cpu->fpu_top + i) & 7));
}
static inline bool fpu_empty(const LatheX86Cpu *cpu, u32 i) {
    return !(cpu->fpu_tag & fpu_tag_bit(cpu, i));
}

static inline void fpu_pop(LatheX86Cpu *cpu) {
    cpu->fpu_tag &= (u8)~fpu_tag_bit(cpu, 0);
    cpu->fpu_top = (cpu->fpu_top + 1) & 7;
}

/* Zero or a normal number: what no instruction takes exception to. */
static inline bool fpu_is_plain(const LatheX86Cpu *cpu, u32 i) {
    u64 significand;
    u16 exponent;
    const u8 *slot = cpu->st[(cpu->fpu_top + i) & 7];
    memcpy(&significand, slot, 8);
    memcpy(&exponent, slot + 8, 2);
    exponent &= 0x7fff;
    return significand >> 63 ? exponent != 0 && exponent != 0x7fff : !exponent && !significand;
}

/* ------------------------------------------------------------------------------------------------------- exceptions */

/* ES and B say whether a flag is set that is not masked. */
static inline void fpu_summarize(LatheX86Cpu *cpu) {
    cpu->fpu_sw &= (u16) ~(FPU_ES | FPU_B);
    if (cpu->fpu_sw & ~cpu->fpu_cw & FPU_EXCEPTIONS)
        cpu->fpu_sw |= FPU_ES | FPU_B;
}

static inline void fpu_set_cw(LatheX86Cpu *cpu, u16 cw) {
    cpu->fpu_cw = (cw & FPU_CW_BITS) | FPU_CW_ONES;
    fpu_summarize(cpu);
}

/* The guest's pending exception, raised on the host. */
void fpu_raise(const LatheX86Cpu *cpu);

/* Every instruction whose mnemonic has no N begins with this. */
static inline void fpu_wait(const LatheX86Cpu *cpu) {
    if (__builtin_expect(cpu->fpu_sw & FPU_ES, 0))
        fpu_raise(cpu);
}

/* A stack overflow (c1 is FPU_C1) or underflow (0). True if it is masked: then the instruction completes, with the
 * indefinite value for its result. */
static inline bool fpu_stack_fault(LatheX86Cpu *cpu, u16 c1) {
    cpu->fpu_sw = (u16)((cpu->fpu_sw & ~FPU_C1) | FPU_IE | FPU_SF | c1);
    fpu_summarize(cpu);
    return cpu->fpu_cw & FPU_IE;
}

/* Takes over the exceptions and the given condition codes. False: one of the exceptions in `stops` is not masked; then
 * the instruction has no effect but that (SDM 1, 8.5) and a cleared C1. */
static inline bool fpu_commit(LatheX86Cpu *cpu, u16 sw, u16 codes, u16 stops) {
    u32 unmasked = sw & ~cpu->fpu_cw & FPU_EXCEPTIONS;
    u16 taken = unmasked & stops ? FPU_BEFORE : codes | FPU_EXCEPTIONS;
    cpu->fpu_sw = (u16)((cpu->fpu_sw & ~(taken & FPU_CODES) & ~(codes & FPU_C1)) | (sw & taken));
    if (unmasked)
        cpu->fpu_sw |= FPU_ES | FPU_B;
    return !(unmasked & stops);
}

/* ---------------------------------------------------------------------------------------------------- memory images */

/* The environment and the registers as FNSTENV and FNSAVE write them with 32-bit operand size. */
typedef struct __attribute__((packed)) FpuEnv {
    u16 cw, ones0, sw, ones1, tw, ones2;
    u32 ip;
    u16 cs, opcode;
    u32 dp;
    u16 ds, ones3;
} FpuEnv;

typedef struct __attribute__((packed)) FpuImage {
    FpuEnv env;
    u8 st[8][10]; /* from ST(0) on */
} FpuImage;

void fpu_get_env(const LatheX86Cpu *cpu, FpuEnv *env);
void fpu_get_image(const LatheX86Cpu *cpu, FpuImage *image);
void fpu_put_env(LatheX86Cpu *cpu, const FpuEnv *env);
void fpu_put_image(LatheX86Cpu *cpu, const FpuImage *image);

#endif
