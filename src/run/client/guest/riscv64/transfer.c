/* transfer.c: see core/guest.h. */
#include "guest_cpu.h"
#include "isa/riscv64/encoding.h"
#include "isa/riscv64/format.h"
#include "run/client/core/guest.h"

static bool decode(const u8 *text, u32 size, Insn *in) {
    memset(in, 0, sizeof(*in));
    return rv_decode(text, size, 0, in) == LATHE_OK;
}

bool guest_branches(const GuestCpu *cpu, u64 flags, const u8 *text, u32 size) {
    Insn in;
    (void)flags;
    if (!decode(text, size, &in))
        return false;
    u64 a = guest_register(cpu, in.op[0].no), b = guest_register(cpu, in.op[1].no);
    switch (in.row) {
    case RV_ROW_beq:
        return a == b;
    case RV_ROW_bne:
        return a != b;
    case RV_ROW_blt:
        return (i64)a < (i64)b;
    case RV_ROW_bge:
        return (i64)a >= (i64)b;
    case RV_ROW_bltu:
        return a < b;
    default:
        return a >= b;
    }
}

/* jalr rd, rs1, offset */
u64 guest_target(const GuestCpu *cpu, const u8 *text, u32 size) {
    Insn in;
    return decode(text, size, &in) ? (guest_register(cpu, in.op[1].no) + (u64)in.op[2].disp) & ~(u64)1 : 0;
}

bool guest_repeats(const GuestCpu *cpu, u64 flags, const u8 *text, u32 size) {
    return (void)cpu, (void)flags, (void)text, (void)size, false;
}
