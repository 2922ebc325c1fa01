/* transfer.c: see core/guest.h. */
#include "guest_cpu.h"
#include "isa/aarch64/aarch64.h"
#include "run/client/core/guest.h"

static bool decode(const u8 *text, u32 size, Insn *in) {
    memset(in, 0, sizeof(*in));
    return a64_decode(text, size, 0, in) == LATHE_OK;
}

/* The manual, C1.2.4: the lowest bit of a condition inverts. */
static bool holds(const GuestCpu *c, u32 condition) {
    bool same = c->n == c->v;
    const bool all[] = {c->z, c->c, c->n, c->v, c->c && !c->z, same, same && !c->z, true};
    return condition >= A64_AL || all[condition >> 1] != (condition & 1);
}

/* The register of operand i, which may be the one that is always zero. */
static u64 operand(const GuestCpu *cpu, const Insn *in, int i) {
    u64 value = in->op[i].no == A64_ZERO ? 0 : guest_register(cpu, in->op[i].no);
    return in->op[i].bits == 32 ? (u32)value : value;
}

bool guest_branches(const GuestCpu *cpu, u64 flags, const u8 *text, u32 size) {
    Insn in;
    (void)flags;
    if (!decode(text, size, &in))
        return false;
    switch (in.row) {
    case A64_ROW_cbz:
    case A64_ROW_cbnz:
        return !operand(cpu, &in, 0) == (in.row == A64_ROW_cbz);
    case A64_ROW_tbz:
    case A64_ROW_tbnz:
        return !(operand(cpu, &in, 0) >> a64_imm(&in, 1) & 1) == (in.row == A64_ROW_tbz);
    default:
        return holds(cpu, (u32)a64_imm(&in, 1));
    }
}

/* br, blr, ret, and those that check a signature. */
u64 guest_target(const GuestCpu *cpu, const u8 *text, u32 size) {
    Insn in;
    if (!decode(text, size, &in))
        return 0;
    return in.operand_count ? operand(cpu, &in, 0) : cpu->x[REG_LR];
}

bool guest_repeats(const GuestCpu *cpu, u64 flags, const u8 *text, u32 size) {
    return (void)cpu, (void)flags, (void)text, (void)size, false;
}
