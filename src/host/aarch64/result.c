/* result.c: does a native function return its result in memory? Compiled for aarch64, for programs that were raised from another machine: see isa/foreign.h.
 *
 * The address of such a result is in x8, where other machines pass it as the first integer. A virtual function of a library may be called whose prototype nobody knows, but its
 * code tells: it reads x8 before it writes it, and before it calls something, which does not keep x8. Instructions are classified as in the Arm Architecture Reference Manual for A-profile, C4.1. */
#include "isa/foreign.h"

enum { RESULT_REG = 8, STEPS_MAX = 64 };

typedef enum Use { USE_NONE, USE_READ, USE_WRITTEN, USE_ENDS } Use;

static u32 bits(u32 in, int low, int count) {
    return in >> low & ((1u << count) - 1);
}

static bool is_reg(u32 in, int low) {
    return bits(in, low, 5) == RESULT_REG;
}

static Use use_of(bool reads, bool writes) {
    return reads ? USE_READ : writes ? USE_WRITTEN : USE_NONE;
}

static Use immediate_use(u32 in) {
    u32 kind = bits(in, 23, 3);
    bool writes = is_reg(in, 0);
    if (kind < 2) /* adr, adrp */
        return use_of(false, writes);
    if (kind == 5) /* movn, movz, and movk, which keeps the other bits */
        return use_of(writes && bits(in, 29, 2) == 3, writes);
    bool keeps = kind == 6 && bits(in, 29, 2) == 1;           /* bfm */
    bool second = kind == 7 && bits(in, 16, 5) == RESULT_REG; /* extr */
    return use_of(is_reg(in, 5) || second || (keeps && writes), writes);
}

/* All but those that compare registers with zero leave the function, or go on behind it. */
static Use branch_use(u32 in) {
    bool on_condition = bits(in, 24, 8) == 0x54, compares = bits(in, 25, 6) == 0x1a || bits(in, 25, 6) == 0x1b;
    bool system = bits(in, 22, 10) == 0x354;
    if (compares)
        return use_of(is_reg(in, 0), false);
    if (system)
        return use_of(is_reg(in, 0) && !bits(in, 21, 1), is_reg(in, 0) && bits(in, 21, 1));
    return on_condition ? USE_NONE : USE_ENDS;
}

static bool is_exclusive(u32 in) {
    return bits(in, 24, 6) == 0x08;
}

/* Those that compare and swap read what they compare with; of others, those that store write whether they did, unless they are only ordered. */
static Use exclusive_use(u32 in, bool data) {
    bool only_ordered = bits(in, 23, 1), swaps = bits(in, 21, 1) && (only_ordered || !bits(in, 31, 1));
    bool loads = bits(in, 22, 1) && !swaps, status = is_reg(in, 16) && !swaps && !loads && !only_ordered;
    return use_of(is_reg(in, 5) || (swaps && is_reg(in, 16)) || (data && !loads), (data && loads) || status);
}

/* Structures of vectors have no other form than an address. */
static Use memory_use(u32 in) {
    bool vectors = bits(in, 26, 1), literal = bits(in, 27, 3) == 3 && !bits(in, 24, 1), pair = bits(in, 27, 3) == 5;
    bool single = bits(in, 27, 3) == 7, loads = pair ? bits(in, 22, 1) : bits(in, 22, 2) != 0;
    bool by_register = single && !bits(in, 24, 1) && bits(in, 21, 1);
    bool atomic = by_register && !vectors && !bits(in, 10, 2); /* gives what was there, and so loads */
    bool data = !vectors && (is_reg(in, 0) || ((pair || is_exclusive(in)) && is_reg(in, 10)));
    if (literal)
        return use_of(false, data);
    if (is_exclusive(in))
        return exclusive_use(in, data);
    return use_of(is_reg(in, 5) || (by_register && is_reg(in, 16)) || (data && !loads && !atomic), data);
}

static Use register_use(u32 in) {
    bool three = bits(in, 24, 5) == 0x1b, compares = bits(in, 21, 8) == 0xd2, one = bits(in, 21, 10) == 0x2d6;
    bool second = !one && !(compares && bits(in, 11, 1)) && is_reg(in, 16);
    return use_of(is_reg(in, 5) || second || (three && is_reg(in, 10)), !compares && is_reg(in, 0));
}

/* Of those that compute with vectors, few have to do with integers: they move or convert one. */
static Use vector_use(u32 in) {
    bool converts = bits(in, 24, 7) == 0x1e && bits(in, 21, 1) && !bits(in, 10, 6);
    bool copies = bits(in, 21, 8) == 0x70 && bits(in, 10, 1) && !bits(in, 15, 1);
    bool from_vector =
        converts ? bits(in, 17, 2) != 1 && bits(in, 16, 3) != 7 : bits(in, 11, 4) == 5 || bits(in, 11, 4) == 7;
    if (!converts && !copies)
        return USE_NONE;
    return use_of(is_reg(in, 5) && !from_vector, is_reg(in, 0) && from_vector);
}

static Use use(u32 in) {
    u32 group = bits(in, 25, 4);
    if ((group & 14) == 8)
        return immediate_use(in);
    if ((group & 14) == 10)
        return branch_use(in);
    if ((group & 5) == 4)
        return memory_use(in);
    if ((group & 7) == 5)
        return register_use(in);
    return (group & 7) == 7 ? vector_use(in) : USE_ENDS;
}

static bool is_jump(u32 in) {
    return bits(in, 26, 6) == 5;
}

static const u32 *jump_target(const u32 *at) {
    i32 words = (i32)(*at << 6) >> 6;
    return at + words;
}

/* In programs that are not position-independent, the address of a library's function may be that of a stub: adrp x16; ldr x17, [x16, #off]; add x16, x16, #off; br x17. */
static const u32 *behind_stub(const u32 *at) {
    bool is_stub = (at[0] & 0x9f00001f) == 0x90000010 && (at[1] & 0xffc003ff) == 0xf9400211 && at[3] == 0xd61f0220;
    if (!is_stub)
        return at;
    i64 pages = (i64)((u64)bits(at[0], 5, 19) << 45) >> 43 | bits(at[0], 29, 2);
    u64 slot = ((u64)at & ~(u64)4095) + ((u64)pages << 12) + 8 * bits(at[1], 10, 12);
    return (const u32 *)*(const u64 *)slot;
}

bool host_returns_in_memory(u64 target, u64 object) {
    (void)object;
    if (target % sizeof(u32))
        return false;
    const u32 *at = behind_stub((const u32 *)target);
    for (int i = 0; i < STEPS_MAX; i++) {
        Use found = use(*at);
        if (is_jump(*at))
            at = jump_target(at);
        else if (found == USE_NONE)
            at++;
        else
            return found == USE_READ;
    }
    return false;
}
