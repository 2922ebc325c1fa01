/* gaps.c: what `lathe lift --support` tells, for one instruction of a function. */
#include "cli/explore/explorer.h"
#include "isa/isa.h"

static const char *deviation_of(const Unit *u, const char *mnemonic) {
    LatheSupport row;
    for (size_t i = 0; lathe_support(u->cfg.arch, u->cfg.host, i, &row); i++)
        if (row.deviation && !strcmp(row.mnemonic, mnemonic))
            return row.deviation;
    return NULL;
}

const char *explore_gap(const Unit *u, u64 pc) {
    enum { LONGEST = 16 };
    const Isa *isa = isa_find(u->cfg.arch);
    u8 bytes[LONGEST];
    Insn in = {0};
    size_t size = guest_read(u->plan->guest, pc, bytes, sizeof(bytes));
    if (!size)
        return "this cannot be read: the function leaves here";
    if (isa->decode(bytes, size, pc, &in) < 0)
        return "this is no instruction: the function leaves here";
    return in.row ? deviation_of(u, isa->row_name(in.row)) : "not supported: the function leaves here with a trap";
}
