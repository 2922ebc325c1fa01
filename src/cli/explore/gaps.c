/* gaps.c: what `lathe lift --support` tells, for one instruction of a function. */
#include "cli/explore/explorer.h"
#include "isa/isa.h"

Gap explore_gap(const Unit *u, u64 pc) {
    enum { LONGEST = 16 };
    const Isa *isa = isa_find(u->cfg.arch);
    u8 bytes[LONGEST];
    Insn in = {0};
    size_t size = guest_read(u->plan->guest, pc, bytes, sizeof(bytes));
    if (!size)
        return (Gap){"cannot be read", true};
    if (isa->decode(bytes, size, pc, &in) < 0)
        return (Gap){"not an instruction", true};
    return in.row ? (Gap){isa->deviation(host_find(u->cfg.host), &in), false} : (Gap){"not supported", true};
}
