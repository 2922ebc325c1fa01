/* float_state.c: the floating-point control and status register: frm and fflags. */
#include "isa/riscv64/csr.h"
#include "isa/riscv64/float.h"

static Val slot(Lifter *l, size_t offset) {
    return ir_state(l, (u32)offset);
}

static Val load_byte(Lifter *l, size_t offset) {
    return ir_load(l, I8, slot(l, offset), 1, SPACE_STATE);
}

static void store_byte(Lifter *l, size_t offset, Val v) {
    ir_store(l, v, slot(l, offset), 1, SPACE_STATE);
}

Val rv_frm(Lifter *l) {
    return load_byte(l, offsetof(LatheRiscv64Cpu, frm));
}

void rv_raise_if(Lifter *l, Val cond, u32 flag) {
    Val raised = ir_select(l, cond, ir_int(l, I8, flag), ir_int(l, I8, 0));
    store_byte(l, offsetof(LatheRiscv64Cpu, fflags), ir_or(l, load_byte(l, offsetof(LatheRiscv64Cpu, fflags)), raised));
}

/* ---------------------------------------------------------------------------------------------------------------- the host */

enum { MXCSR_FLAGS = 0x3f, MXCSR_ROUNDING = 0x6000 };

/* LLVM knows what these two do to the environment, and keeps constrained operations on their side of them. */
static Val get_mxcsr(Lifter *l) {
    Val at = slot(l, offsetof(LatheRiscv64Cpu, scratch));
    ir_intrinsic(l, "llvm.x86.sse.stmxcsr", NULL, 0, &at, 1);
    return ir_load(l, I32, at, 4, SPACE_STATE);
}

static void set_mxcsr(Lifter *l, Val v) {
    Val at = slot(l, offsetof(LatheRiscv64Cpu, scratch));
    ir_store(l, v, at, 4, SPACE_STATE);
    ir_intrinsic(l, "llvm.x86.sse.ldmxcsr", NULL, 0, &at, 1);
}

/* One bit of v, moved. */
static Val bit(Lifter *l, Val v, u32 from, u32 to) {
    return ir_shl_by(l, ir_and_with(l, ir_lshr_by(l, v, from), 1), to);
}

/* The same without a place in the guest state, and not in order with plain operations. */
static Val see_mxcsr(Lifter *l) {
    static const char text[] = "lea -136(%rsp), %rsp\n\tstmxcsr (%rsp)\n\tmov (%rsp), $0\n\tlea 136(%rsp), %rsp";
    return ir_asm_seeing(l, text, "=r", I32);
}

/* mxcsr has the flags in the other order: invalid, (denormal,) divide, overflow, underflow, inexact. */
static Val flags_of_mxcsr(Lifter *l, Val v) {
    Val low = ir_or(l, bit(l, v, 5, 0), ir_or(l, bit(l, v, 4, 1), bit(l, v, 3, 2)));
    return ir_trunc(l, ir_or(l, low, ir_or(l, bit(l, v, 2, 3), bit(l, v, 0, 4))), I8);
}

/* What the host does not have stays as it is. SDM 1, 10.2.3: its modes are nearest, down, up, to zero. */
static Val host_rounding(Lifter *l, Val frm) {
    Val index = ir_shl_by(l, ir_zext(l, frm, I32), 1);
    return ir_shl_by(l, ir_and_with(l, ir_lshr(l, ir_int(l, I32, 0x9c), index), 3), 13);
}

/* -------------------------------------------------------------------------------------------------------------- the guest */

static Val get_flags(Lifter *l) {
    Val own = load_byte(l, offsetof(LatheRiscv64Cpu, fflags));
    return RV_HOST_IS_X86 ? ir_or(l, own, flags_of_mxcsr(l, get_mxcsr(l))) : own;
}

Val rv_flags_seen(Lifter *l) {
    Val own = load_byte(l, offsetof(LatheRiscv64Cpu, fflags));
    return ir_zext(l, RV_HOST_IS_X86 ? ir_or(l, own, flags_of_mxcsr(l, see_mxcsr(l))) : own, I64);
}

static void set_flags(Lifter *l, Val v) {
    store_byte(l, offsetof(LatheRiscv64Cpu, fflags), v);
    if (RV_HOST_IS_X86)
        set_mxcsr(l, ir_and_with(l, get_mxcsr(l), (u64)~MXCSR_FLAGS));
}

static void set_frm(Lifter *l, Val v) {
    store_byte(l, offsetof(LatheRiscv64Cpu, frm), v);
    if (RV_HOST_IS_X86)
        set_mxcsr(l, ir_or(l, ir_and_with(l, get_mxcsr(l), (u64)~MXCSR_ROUNDING), host_rounding(l, v)));
}

Val rv_float_csr(Lifter *l, u32 no) {
    Val v = no == RV_FRM ? rv_frm(l) : get_flags(l);
    if (no == RV_FCSR)
        v = ir_or(l, v, ir_shl_by(l, rv_frm(l), 5));
    return ir_zext(l, v, I64);
}

/* Code that was not lifted with strict_fp counts on the host's rounding mode being the guest's. */
static void refuse_unknown_mode(Lifter *l, const Insn *in, Val frm) {
    if (!l->cfg->strict_fp)
        trap_if(l, in, ir_icmp(l, UGE, frm, ir_int(l, I8, RV_RMM)), LATHE_TRAP_ROUNDING);
}

void rv_set_float_csr(Lifter *l, const Insn *in, u32 no, Val v) {
    Val byte = ir_trunc(l, v, I8), frm = ir_and_with(l, no == RV_FCSR ? ir_lshr_by(l, byte, 5) : byte, 7);
    if (no != RV_FFLAGS)
        refuse_unknown_mode(l, in, frm);
    if (no != RV_FRM)
        set_flags(l, ir_and_with(l, byte, 31));
    if (no != RV_FFLAGS)
        set_frm(l, frm);
}
