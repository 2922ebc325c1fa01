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

/* A virtual machine takes some ten microseconds for a cpuid, and C libraries ask for the extended leaves, which say how large caches are, twenty
 * times when they start. So the first answer of each is kept, with the processor that gave it, and never changes. */
typedef struct Answer {
    u32 state; /* 0: there is no answer yet; ANSWER_BEGUN: it is being stored; otherwise the number of the processor that gave it, plus ANSWER_OF_FIRST */
    u32 r[CPUID_WORDS];
} Answer;

enum { ANSWER_BEGUN = 1, ANSWER_OF_FIRST };
enum { LEAF_EXTENDED = 0x80000000, EXTENDED_LEAVES = 9 }; /* they have no subleaves */

static void keep(Answer *a, u32 state, const u32 r[CPUID_WORDS]) {
    u32 none = 0;
    if (!__atomic_compare_exchange_n(&a->state, &none, ANSWER_BEGUN, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return;
    memcpy(a->r, r, sizeof(a->r));
    __atomic_store_n(&a->state, state, __ATOMIC_RELEASE);
}

static void ask_extended(u32 leaf, u32 r[CPUID_WORDS]) {
    static Answer answers[EXTENDED_LEAVES];
    Answer *a = &answers[leaf - LEAF_EXTENDED];
    u32 processor = 0;
    sys3(__NR_getcpu, (u64)&processor, 0, 0);
    if (__atomic_load_n(&a->state, __ATOMIC_ACQUIRE) == processor + ANSWER_OF_FIRST) {
        memcpy(r, a->r, sizeof(a->r));
        return;
    }
    host_cpuid(leaf, 0, r);
    keep(a, processor + ANSWER_OF_FIRST, r);
}

static void ask(u32 leaf, u32 sub, u32 r[CPUID_WORDS]) {
    if (leaf - LEAF_EXTENDED < EXTENDED_LEAVES)
        ask_extended(leaf, r);
    else
        host_cpuid(leaf, sub, r);
}

void guest_cpuid(LatheX86Cpu *cpu) {
    static const u8 registers[] = {LATHE_RAX, LATHE_RBX, LATHE_RCX, LATHE_RDX};
    u32 leaf = (u32)cpu->gp[LATHE_RAX], sub = (u32)cpu->gp[LATHE_RCX], r[CPUID_WORDS];
    bool has_subleaves = leaf == LEAF_MORE;
    ask(leaf, sub, r);
    if (leaf == LEAF_MORE && !sub && !is_native())
        r[CPUID_EAX] = 0; /* the number of the last subleaf */
    for (u32 i = 0; i < CPUID_WORDS; i++)
        cpu->gp[registers[i]] = is_hidden(leaf, sub) ? 0 : r[i] & shown_bits(leaf, has_subleaves ? sub : 0, i);
}
