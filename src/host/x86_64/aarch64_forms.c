/* aarch64_forms.c: what an x86-64 host has for vectors of aarch64 guests, and mxcsr for their floating point. */
#include "host/x86_64/mxcsr.h"
#include "host/x86_64/parts.h"
#include "isa/aarch64/forms.h"

/* SDM 2B, PSHUFB: bits 6–4 do not count. */
static Val look_up(Lifter *l, Val table, Val index) {
    Val args[] = {table, index};
    return ir_intrinsic(l, "llvm.x86.ssse3.pshuf.b.128", NULL, 0, args, 2);
}

enum { SCRATCH = offsetof(LatheAarch64Cpu, scratch) };

/* Both begin with invalid; mxcsr then has one more, before division, overflow, underflow and inexact. */
static Val flags(Lifter *l) {
    Val v = x86_64_get_mxcsr(l, SCRATCH);
    return ir_or(l, ir_and_with(l, v, 1), ir_and_with(l, ir_lshr_by(l, v, 1), 0x1e));
}

static void clear_flags(Lifter *l) {
    x86_64_set_mxcsr(l, SCRATCH, ir_and_with(l, x86_64_get_mxcsr(l, SCRATCH), (u64)~MXCSR_FLAGS));
}

/* The manual, FPCR: bits 23–22 are nearest, up, down, to zero, where mxcsr has down before up; bit 24 flushes. */
static void set_mode(Lifter *l, Val fpcr) {
    Val up = ir_and_with(l, ir_shl_by(l, ir_lshr_by(l, fpcr, 22), 1), 2),
        down = ir_and_with(l, ir_lshr_by(l, fpcr, 23), 1);
    Val rounding = ir_shl_by(l, ir_or(l, up, down), MXCSR_ROUNDING_SHIFT);
    Val flushes =
        ir_select(l, ir_is_zero(l, ir_and_with(l, fpcr, 1 << 24)), ir_int(l, I32, 0), ir_int(l, I32, MXCSR_FLUSHES));
    Val kept = ir_and_with(l, x86_64_get_mxcsr(l, SCRATCH), (u64) ~(MXCSR_ROUNDING | MXCSR_FLUSHES));
    x86_64_set_mxcsr(l, SCRATCH, ir_or(l, kept, ir_or(l, rounding, flushes)));
}

const A64Forms x86_64_forms_aarch64 = {
    .look_up = look_up,
    .flags = flags,
    .clear_flags = clear_flags,
    .set_mode = set_mode,
};
