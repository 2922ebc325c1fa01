/* cpuid.c: the processor that the guest sees: the host's, limited by --cpu.
 *
 * Feature bits of the host are hidden, never added: cpu.def says which are shown when. Without --cpu the guest sees the processor that runs
 * fast: everything that quick code can execute, which is nearly all of the host's; with --tier=opt, what the lifter has rows for. The
 * latter, and levels below v3, have no xsave, so dynamic linkers and libraries choose their SSE paths.
 */
#include "host_cpu.h"
#include "run/client/core/client.h"

enum { NEVER = CPU_NATIVE + 1 };
enum {
    LEAF_FEATURES = 1,
    LEAF_MORE = 7,
    LEAF_XSAVE = 0xd,
    LEAF_ENCLAVES = 0x12,
    LEAF_TRACE = 0x14,
    LEAF_KEYS = 0x19,
    LEAF_TILES = 0x1d,
    LEAF_TILE_UNITS = 0x1e,
    LEAF_AVX10 = 0x24
};

typedef struct Feature {
    u32 leaf;
    u8 sub, reg, bit;
    u8 level; /* a Cpu, or NEVER */
    bool has_rows;
} Feature;

static const Feature features[] = {
#define FEATURE(leaf, sub, reg, bit, level, rows) {leaf, sub, CPUID_##reg, bit, level, rows},
#include "cpu.def"
#undef FEATURE
};

bool guest_has_only_rows(void) {
    return the.opt.cpu == CPU_AUTO && the.opt.asked_tier == TIER_OPT;
}

static Cpu level(void) {
    return the.opt.cpu == CPU_AUTO ? CPU_NATIVE : (Cpu)the.opt.cpu;
}

static bool is_native(void) {
    return !guest_has_only_rows() && level() == CPU_NATIVE;
}

static bool is_shown(const Feature *f) {
    return guest_has_only_rows() ? f->has_rows : f->level <= level();
}

static u32 shown_bits(u32 leaf, u32 sub, u32 reg) {
    u32 shown = 0, hidden = 0;
    bool listed = false;
    for (size_t i = 0; i < ARRAY_LEN(features); i++) {
        const Feature *f = &features[i];
        if (f->leaf != leaf || f->sub != sub || f->reg != reg)
            continue;
        *(is_shown(f) ? &shown : &hidden) |= 1u << f->bit;
        listed |= f->level != NEVER;
    }
    return listed && !is_native() ? shown : ~hidden;
}

static bool has_xsave(void) {
    return !guest_has_only_rows() && level() >= CPU_V3;
}

/* True for leaves about features that a guest never has. Subleaves of features belong to no level. */
static bool is_hidden(u32 leaf, u32 sub) {
    switch (leaf) {
    case LEAF_MORE:
        return sub && !is_native();
    case LEAF_XSAVE:
        return !has_xsave();
    case LEAF_ENCLAVES:
        return true;
    case LEAF_TRACE:
    case LEAF_KEYS:
    case LEAF_TILES:
    case LEAF_TILE_UNITS:
    case LEAF_AVX10:
        return !is_native();
    default:
        return false;
    }
}

void guest_cpuid(LatheX86Cpu *cpu) {
    static const u8 registers[] = {LATHE_RAX, LATHE_RBX, LATHE_RCX, LATHE_RDX};
    u32 leaf = (u32)cpu->gp[LATHE_RAX], sub = (u32)cpu->gp[LATHE_RCX], r[CPUID_WORDS];
    bool has_subleaves = leaf == LEAF_MORE;
    host_cpuid(leaf, sub, r);
    if (leaf == LEAF_MORE && !sub && !is_native())
        r[CPUID_EAX] = 0; /* the number of the last subleaf */
    for (u32 i = 0; i < CPUID_WORDS; i++)
        cpu->gp[registers[i]] = is_hidden(leaf, sub) ? 0 : r[i] & shown_bits(leaf, has_subleaves ? sub : 0, i);
}
