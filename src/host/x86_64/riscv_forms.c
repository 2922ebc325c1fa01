/* riscv_forms.c: what an x86-64 host has for floating point of riscv64 guests: mxcsr and conversions. */
#include "host/x86_64/mxcsr.h"
#include "host/x86_64/parts.h"
#include "isa/riscv64/forms.h"

enum { SCRATCH = offsetof(LatheRiscv64Cpu, scratch) };

static Val get_mxcsr(Lifter *l) {
    return x86_64_get_mxcsr(l, SCRATCH);
}

static void set_mxcsr(Lifter *l, Val v) {
    x86_64_set_mxcsr(l, SCRATCH, v);
}

static Val see_mxcsr(Lifter *l) {
    static const char text[] = "lea -136(%rsp), %rsp\n\tstmxcsr (%rsp)\n\tmov (%rsp), $0\n\tlea 136(%rsp), %rsp";
    return ir_asm_seeing(l, text, "=r", I32);
}

/* One bit of v, moved. */
static Val bit(Lifter *l, Val v, u32 from, u32 to) {
    return ir_shl_by(l, ir_and_with(l, ir_lshr_by(l, v, from), 1), to);
}

/* mxcsr has the flags in the other order: invalid, (denormal,) divide, overflow, underflow, inexact. */
static Val flags_of_mxcsr(Lifter *l, Val v) {
    Val low = ir_or(l, bit(l, v, 5, 0), ir_or(l, bit(l, v, 4, 1), bit(l, v, 3, 2)));
    return ir_trunc(l, ir_or(l, low, ir_or(l, bit(l, v, 2, 3), bit(l, v, 0, 4))), I8);
}

static Val flags(Lifter *l) {
    return flags_of_mxcsr(l, get_mxcsr(l));
}

static Val flags_seen(Lifter *l) {
    return flags_of_mxcsr(l, see_mxcsr(l));
}

static void clear_flags(Lifter *l) {
    set_mxcsr(l, ir_and_with(l, get_mxcsr(l), (u64)~MXCSR_FLAGS));
}

/* SDM 1, 10.2.3: its modes are nearest, down, up, to zero. */
static Val host_rounding(Lifter *l, Val frm) {
    Val index = ir_shl_by(l, ir_zext(l, frm, I32), 1);
    return ir_shl_by(l, ir_and_with(l, ir_lshr(l, ir_int(l, I32, 0x9c), index), 3), MXCSR_ROUNDING_SHIFT);
}

static void set_rounding(Lifter *l, Val frm) {
    set_mxcsr(l, ir_or(l, ir_and_with(l, get_mxcsr(l), (u64)~MXCSR_ROUNDING), host_rounding(l, frm)));
}

/* cvttsd2si and its relatives. */
static Val to_int(Lifter *l, Val v, Ty to, bool truncates) {
    static const char *const name[2][2][2] = {
        {{"llvm.x86.sse.cvtss2si", "llvm.x86.sse.cvtss2si64"}, {"llvm.x86.sse.cvttss2si", "llvm.x86.sse.cvttss2si64"}},
        {{"llvm.x86.sse2.cvtsd2si", "llvm.x86.sse2.cvtsd2si64"},
         {"llvm.x86.sse2.cvttsd2si", "llvm.x86.sse2.cvttsd2si64"}},
    };
    Ty from = ir_ty(v);
    Val wide = ir_low_lane(l, v, 128 / ty_bits(from));
    return ir_intrinsic(l, name[from == F64][truncates][to == I64], NULL, 0, &wide, 1);
}

const RvForms x86_64_forms_riscv = {
    .flags = flags,
    .flags_seen = flags_seen,
    .clear_flags = clear_flags,
    .set_rounding = set_rounding,
    .to_int = to_int,
};
