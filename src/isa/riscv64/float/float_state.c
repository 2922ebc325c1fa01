/* float_state.c: the floating-point control and status register: frm and fflags. */
#include "isa/riscv64/csr.h"
#include "isa/riscv64/float/float.h"

static Val slot(Lifter *l, size_t offset) {
    return ir_state(l, (u32)offset);
}

static Val load_byte(Lifter *l, size_t offset) {
    return ir_load(l, I8, slot(l, offset), 1, SPACE_STATE);
}

static void store_byte(Lifter *l, size_t offset, Val v) {
    ir_store(l, v, slot(l, offset), 1, SPACE_STATE);
}

static Val is_signaling(Lifter *l, Val v) {
    Ty t = ir_ty(v), bits = ty_as_int(t);
    Val quiet = ir_and_with(l, ir_bitcast(l, v, bits), (u64)1 << (t == F32 ? 22 : 51));
    return ir_and(l, ir_is_nan(l, v), ir_is_zero(l, quiet));
}

void rv_raise_for(Lifter *l, Val a, Val b, bool signaling) {
    if (!rv_is_soft(l))
        return;
    Val any = signaling ? ir_or(l, ir_is_nan(l, a), ir_is_nan(l, b)) : ir_or(l, is_signaling(l, a), is_signaling(l, b));
    rv_raise_if(l, any, RV_NV);
}

Val rv_frm(Lifter *l) {
    return load_byte(l, offsetof(LatheRiscv64Cpu, frm));
}

void rv_raise_if(Lifter *l, Val cond, u32 flag) {
    Val raised = ir_select(l, cond, ir_int(l, I8, flag), ir_int(l, I8, 0));
    store_byte(l, offsetof(LatheRiscv64Cpu, fflags), ir_or(l, load_byte(l, offsetof(LatheRiscv64Cpu, fflags)), raised));
}

static Val get_flags(Lifter *l) {
    Val own = load_byte(l, offsetof(LatheRiscv64Cpu, fflags));
    return rv_forms(l) ? ir_or(l, own, rv_forms(l)->flags(l)) : own;
}

Val rv_flags_seen(Lifter *l) {
    Val own = load_byte(l, offsetof(LatheRiscv64Cpu, fflags));
    return ir_zext(l, rv_forms(l) ? ir_or(l, own, rv_forms(l)->flags_seen(l)) : own, I64);
}

static void set_flags(Lifter *l, Val v) {
    store_byte(l, offsetof(LatheRiscv64Cpu, fflags), v);
    if (rv_forms(l))
        rv_forms(l)->clear_flags(l);
}

static void set_frm(Lifter *l, Val v) {
    store_byte(l, offsetof(LatheRiscv64Cpu, frm), v);
    if (rv_forms(l))
        rv_forms(l)->set_rounding(l, v);
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
