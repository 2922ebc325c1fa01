/* configure.c: see configure.h. */
#include "configure.h"

#include <stdlib.h>

void configure_type(BinoptCfgRef cfg, u32 count, BinoptType ret, const BinoptType t[CONFIGURE_MAX]) {
#define EIGHT(i) t[i], t[i + 1], t[i + 2], t[i + 3], t[i + 4], t[i + 5], t[i + 6], t[i + 7]
    binopt_cfg_type(cfg, count, ret, EIGHT(0), EIGHT(8), EIGHT(16), EIGHT(24), EIGHT(32), EIGHT(40), EIGHT(48),
                    EIGHT(56), EIGHT(64), EIGHT(72));
#undef EIGHT
}

u64 configure_address(Rng *r, u64 start, u64 bytes) {
    static const u64 special[] = {0,
                                  1,
                                  0xfff,
                                  0x1000,
                                  0xffffffff,
                                  0x7fffffffefff,
                                  0x7ffffffffff8,
                                  0x800000000000,
                                  0x8000000000000000,
                                  0xffff800000000000,
                                  0xffffffffff600000,
                                  0xfffffffffffffff0,
                                  0xffffffffffffffff};
    u32 local;
    switch (rng_below(r, 6)) {
    case 0:
        return special[rng_below(r, ARRAY_LEN(special))];
    case 1:
        return (u64)&local + rng_below(r, 4096) - 2048;
    case 2:
        return (u64)binopt_init + rng_below(r, 65536);
    case 3:
        return (u64)malloc + rng_below(r, 65536) - 32768;
    case 4:
        return rng_next(r) >> rng_below(r, 64);
    default:
        return start + rng_next(r) % bytes;
    }
}

static BinoptType draw_type(Rng *r) {
    return (BinoptType)(rng_once_in(r, 40)   ? rng_next(r) & 0xff
                        : rng_once_in(r, 40) ? BINOPT_TY_VOID
                                             : 1 + rng_below(r, BINOPT_TY_PTR_NOALIAS));
}

static void set_flags(Rng *r, BinoptCfgRef cfg) {
    static const BinoptOptFlags flags[] = {BINOPT_F_UNDEF,     BINOPT_F_STACKSZ, BINOPT_F_FASTMATH, BINOPT_F_GUARD,
                                           BINOPT_F_LIBRARIES, BINOPT_F_NOWRAP,  (BinoptOptFlags)77};
    for (u32 i = rng_below(r, 4); i > 0; i--)
        binopt_cfg_set(cfg, flags[rng_below(r, ARRAY_LEN(flags))], rng_next(r) >> rng_below(r, 64));
}

static void set_memory(Rng *r, BinoptCfgRef cfg) {
    static u64 some[512];
    u64 at = configure_address(r, (u64)some, sizeof(some)), size = rng_next(r) >> rng_below(r, 64);
    binopt_cfg_mem(cfg, (void *)at, rng_next(r) & 1 ? size : -at, (BinoptMemFlags)rng_below(r, 5));
}

static void set_parameter(Rng *r, BinoptCfgRef cfg, u32 count) {
    u64 at = configure_address(r, (u64)cfg, 4096);
    u32 index = rng_once_in(r, 20) ? (u32)rng_next(r) : rng_below(r, count + 1);
    if (rng_next(r) & 1)
        binopt_cfg_set_parami(cfg, index, at);
    else
        binopt_cfg_set_paramp(cfg, index, (void *)at, rng_next(r) >> rng_below(r, 64), (BinoptMemFlags)rng_below(r, 4));
}

void configure_randomly(Rng *r, BinoptCfgRef cfg) {
    BinoptType types[CONFIGURE_MAX];
    u32 count = rng_once_in(r, 16) ? rng_below(r, CONFIGURE_MAX) : rng_below(r, 8);
    for (u32 i = 0; i < CONFIGURE_MAX; i++)
        types[i] = draw_type(r);
    if (!rng_once_in(r, 16))
        configure_type(cfg, count, draw_type(r), types);
    set_flags(r, cfg);
    for (u32 i = rng_below(r, 4); i > 0; i--)
        set_parameter(r, cfg, count);
    for (u32 i = rng_below(r, 3); i > 0; i--)
        set_memory(r, cfg);
}
