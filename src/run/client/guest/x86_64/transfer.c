/* transfer.c: see core/guest.h. */
#include "guest_cpu.h"
#include "isa/x86_64/scan.h"
#include "run/client/core/guest.h"

enum { CF = 1, PF = 4, ZF = 64, SF = 128, OF = 2048 };

/* SDM 1, B.1: the conditions by the lowest four bits of an opcode; the last one inverts. */
static bool holds(u32 condition, u64 flags) {
    bool less = !(flags & SF) != !(flags & OF);
    const bool all[] = {flags & OF, flags & CF, flags & ZF, flags & (CF | ZF),
                        flags & SF, flags & PF, less,       less || flags & ZF};
    return all[condition >> 1 & 7] != (condition & 1);
}

/* rcx, or ecx if addresses have 32 bits. */
static u64 counter(const GuestCpu *cpu, const Scan *s) {
    return s->address32 ? (u32)cpu->gp[LATHE_RCX] : cpu->gp[LATHE_RCX];
}

static bool scan(const u8 *text, u32 size, Scan *s, u8 *opcode) {
    if (!scan_insn(text, size, s))
        return false;
    *opcode = s->bytes[s->opcode_at];
    return true;
}

/* loop, loope and loopne decrement rcx before they look at it, so the branch is taken unless rcx is 1 now. */
bool guest_branches(const GuestCpu *cpu, u64 flags, const u8 *text, u32 size) {
    enum { LOOPNE = 0xe0, LOOPE, LOOP, JRCXZ };
    Scan s;
    u8 opcode;
    if (!scan(text, size, &s, &opcode))
        return false;
    if (s.space != SPACE_ONE || opcode < LOOPNE || opcode > JRCXZ)
        return holds(opcode & 15, flags);
    u64 left = counter(cpu, &s);
    switch (opcode) {
    case LOOPNE:
        return left != 1 && !(flags & ZF);
    case LOOPE:
        return left != 1 && flags & ZF;
    case LOOP:
        return left != 1;
    default:
        return left == 0;
    }
}

/* jmp *%reg, call *%reg */
u64 guest_target(const GuestCpu *cpu, const u8 *text, u32 size) {
    Scan s;
    u8 opcode;
    if (!scan(text, size, &s, &opcode) || !s.modrm_at)
        return 0;
    return cpu->gp[(s.bytes[s.modrm_at] & 7) | (s.rex & 1 ? 8 : 0)];
}

/* cmps and scas are repeated only as long as ZF is what the prefix asks for. */
bool guest_repeats(const GuestCpu *cpu, u64 flags, const u8 *text, u32 size) {
    enum { CMPS = 0xa6, SCAS = 0xae, REPE = 0xf3 };
    Scan s;
    u8 opcode;
    if (!scan(text, size, &s, &opcode) || !counter(cpu, &s))
        return false;
    bool compares = (opcode & 0xfe) == CMPS || (opcode & 0xfe) == SCAS;
    return !compares || (s.rep == REPE) == !!(flags & ZF);
}
