/* caller.c: see caller.h; by the procedure call standard of aarch64. DWARF has the number 31 for the stack pointer. */
#include "run/client/core/caller.h"

#include "host_context.h"
#include "run/client/guest/generic/prologue.h"
#include "run/client/memory/peek.h"

u32 caller_sp_number(void) {
    return REG_SP;
}

Caller caller_first(const GuestCpu *cpu) {
    Caller c = {.pc = cpu->pc};
    for (u32 i = 0; i < GUEST_REGISTERS; i++)
        c.reg[i] = guest_register(cpu, i);
    return c;
}

bool caller_at_entry(Caller *c) {
    c->pc = c->reg[REG_LR];
    return true;
}

/* x29 points to two words: the caller's x29, and the return address. The caller's stack pointer is not known exactly; it is set to the address behind
 * these two words. */
bool caller_by_pointer(Caller *c) {
    u64 words[2], at = c->reg[REG_FP];
    if (at % 8 || !copy_guarded(words, (const void *)at, sizeof(words)))
        return false;
    c->pc = c->reg[REG_LR] = words[1];
    c->reg[REG_SP] = at + sizeof(words);
    c->reg[REG_FP] = words[0];
    return true;
}

/* ---------------------------------------------------------------------------------------------------------------- by code */

static i64 sign_extended(u64 value, u32 bits) {
    return (i64)(value << (64 - bits)) >> (64 - bits);
}

/* A load or store of one register or a pair, with sp as its base. */
typedef struct Access {
    bool is_pair, is_vector, loads;
    i64 off;           /* where it accesses memory, relative to sp */
    i64 before, after; /* what is added to sp before and after the access */
} Access;

/* The manual, "Load/store register pair": signed offset, pre-indexed and post-indexed, of 8 bytes each. */
static bool read_pair(u32 w, Access *a) {
    u32 kind = w >> 23 & 3;
    i64 off = sign_extended(w >> 15 & 127, 7) * 8;
    if ((w & 0xfe000000) != 0xa8000000 && (w & 0xfe000000) != 0x6c000000)
        return false;
    *a = (Access){.is_pair = true, .is_vector = w >> 26 & 1, .loads = w >> 22 & 1};
    if (kind == 1)
        a->after = off;
    else if (kind == 3)
        a->before = off;
    else
        a->off = off;
    return true;
}

/* "Load/store register" of 8 bytes: unsigned immediate, or pre-indexed and post-indexed. */
static bool read_single(u32 w, Access *a) {
    bool is_vector = w >> 26 & 1;
    *a = (Access){.is_vector = is_vector, .loads = w >> 22 & 1};
    u32 op = w & 0xfb800000;
    if (op == 0xf9000000) {
        a->off = (i64)(w >> 10 & 0xfff) * 8;
        return true;
    }
    u32 kind = w >> 10 & 3;
    i64 off = sign_extended(w >> 12 & 0x1ff, 9);
    if (op != 0xf8000000 || w >> 21 & 1 || !(kind & 1))
        return false;
    *(kind == 1 ? &a->after : &a->before) = off;
    return true;
}

static void note_access(Prologue *p, const Access *a, u32 w) {
    PrologueFrame *f = &p->now;
    u32 reg = w & 31, second = w >> 10 & 31;
    f->depth -= a->before;
    if (!a->is_vector && a->loads) {
        prologue_load(p, reg);
        if (a->is_pair)
            prologue_load(p, second);
    } else if (!a->is_vector) {
        if (reg != REG_SP)
            prologue_save(f, reg, a->off);
        if (a->is_pair && second != REG_SP)
            prologue_save(f, second, a->off + 8);
    }
    f->depth -= a->after;
}

/* add and sub with sp and an immediate; what else writes sp makes the depth unknown. Register 31 is sp in these instructions. */
static void read_arithmetic(Prologue *p, u32 w) {
    PrologueFrame *f = &p->now;
    u32 rd = w & 31, rn = w >> 5 & 31, op = w & 0xff800000;
    i64 imm = (i64)(w >> 10 & 0xfff) << (w >> 22 & 1 ? 12 : 0);
    bool is_add = op == 0x91000000, is_sub = op == 0xd1000000, is_extended = (w & 0xbfe00000) == 0x8b200000;
    if ((is_add || is_sub) && rd == REG_SP && rn == REG_SP)
        f->depth += is_add ? -imm : imm;
    else if (is_add && rd == REG_FP && rn == REG_SP)
        prologue_point(f, imm);
    else if ((is_add || is_sub || is_extended) && rd == REG_SP)
        f->unknown = true;
}

u32 prologue_read(Prologue *p, u32 w) {
    Access a;
    bool is_jump = (w & 0xfc000000) == 0x14000000, is_by_register = (w & 0xff9ffc1f) == 0xd61f0000; /* b; br, ret */
    if ((w >> 5 & 31) == REG_SP && (read_pair(w, &a) || read_single(w, &a)))
        note_access(p, &a, w);
    else if (is_jump || is_by_register)
        prologue_leave(p);
    else
        read_arithmetic(p, w);
    return 4;
}

/* ---------------------------------------------------------------------------------------------------------------- signals */

static bool returns_from_handler(u64 at) {
    static const u32 returns[] = {0xd2801168, 0xd4000001}; /* mov x8, #139; svc #0 */
    u32 code[2];
    return copy_guarded(code, (const void *)at, sizeof(code)) && !memcmp(code, returns, sizeof(code));
}

/* Reads x0 to x30, sp and pc from the signal frame, where they are behind siginfo_t, the first part of ucontext_t and the address of a fault. The
 * thread may be before the two instructions, between them or behind them. */
bool caller_is_signal(Caller *c) {
    enum { STATE = sizeof(SignalInfo) + 176 + 8 };
    u64 state[GUEST_REGISTERS + 1];
    if (!returns_from_handler(c->pc) && !returns_from_handler(c->pc - 4) && !returns_from_handler(c->pc - 8))
        return false;
    if (!copy_guarded(state, (const void *)(c->reg[REG_SP] + STATE), sizeof(state)))
        return false;
    c->pc = state[GUEST_REGISTERS];
    memcpy(c->reg, state, GUEST_REGISTERS * sizeof(u64));
    return true;
}
