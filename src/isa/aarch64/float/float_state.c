/* float_state.c: the control and status registers of floating point, as I32. */
#include "isa/aarch64/float.h"
#include "isa/aarch64/forms.h"

static Val slot(Lifter *l, size_t offset) {
    return ir_state(l, (u32)offset);
}

/* What has the modes and flags besides the state; NULL: nothing. */
static const A64Forms *by_host(const Lifter *l) {
    const A64Forms *forms = l->cfg->strict_fp ? NULL : a64_forms(l);
    return forms && forms->flags ? forms : NULL;
}

Val a64_fpcr(Lifter *l) {
    return ir_load(l, I32, slot(l, offsetof(LatheAarch64Cpu, fpcr)), 4, SPACE_STATE);
}

/* Bits that there are: AHP, DN, FZ, the rounding mode, FZ16. Code that is not exact counts on all of them being clear, unless the host has them; the first two and the last
 * are only for what is always exact, or for NaNs. */
void a64_set_fpcr(Lifter *l, const Insn *in, Val v) {
    const A64Forms *host = by_host(l);
    Val known = ir_and_with(l, v, 0x07c80000);
    if (!l->cfg->strict_fp && !host)
        trap_if(l, in, ir_icmp(l, NE, known, ir_int(l, I32, 0)), LATHE_TRAP_ROUNDING);
    ir_store(l, known, slot(l, offsetof(LatheAarch64Cpu, fpcr)), 4, SPACE_STATE);
    if (host)
        host->set_mode(l, known);
}

Val a64_fpsr(Lifter *l) {
    const A64Forms *host = by_host(l);
    Val own = ir_load(l, I32, slot(l, offsetof(LatheAarch64Cpu, fpsr)), 4, SPACE_STATE);
    return host ? ir_or(l, own, host->flags(l)) : own;
}

/* QC, the flags of exceptions, and those of comparisons, which only programs of 32 bits set. */
void a64_set_fpsr(Lifter *l, Val v) {
    const A64Forms *host = by_host(l);
    ir_store(l, ir_and_with(l, v, 0xf800009f), slot(l, offsetof(LatheAarch64Cpu, fpsr)), 4, SPACE_STATE);
    if (host)
        host->clear_flags(l);
}
