/* caller.c: see caller.h; by the psABI of RISC-V, whose registers DWARF numbers as the instruction set does. */
#include "run/client/core/caller.h"

#include "host_context.h"
#include "run/client/guest/generic/prologue.h"
#include "run/client/memory/peek.h"

enum { REGISTERS = GUEST_REGISTERS };

u32 caller_sp_number(void) {
    return REG_SP;
}

Caller caller_first(const GuestCpu *cpu) {
    Caller c = {.pc = cpu->pc};
    memcpy(c.reg, cpu->x, REGISTERS * sizeof(u64));
    return c;
}

bool caller_at_entry(Caller *c) {
    c->pc = c->reg[REG_RA];
    return true;
}

/* Below the address in s0 there are two words: the caller's s0, and the return address. s0 itself is the caller's stack pointer. */
bool caller_by_pointer(Caller *c) {
    u64 words[2], top = c->reg[REG_FP];
    if (top % 8 || !copy_guarded(words, (const void *)(top - sizeof(words)), sizeof(words)))
        return false;
    c->pc = c->reg[REG_RA] = words[1];
    c->reg[REG_SP] = top;
    c->reg[REG_FP] = words[0];
    return true;
}

/* ---------------------------------------------------------------------------------------------------------------- by code */

static i64 sign_extended(u64 value, u32 bits) {
    return (i64)(value << (64 - bits)) >> (64 - bits);
}

/* Of the unprivileged specification, "C" extension: c.addi4spn, c.addi and c.addi16sp, c.ldsp, c.sdsp, c.j, c.jr. */
static void read_short(Prologue *r, u32 w) {
    PrologueFrame *f = &r->now;
    u32 reg = w >> 2 & 31;
    if ((w & 0xe003) == 0 && (reg & 7) == 0)
        prologue_point(f, (w >> 7 & 15) << 6 | (w >> 11 & 3) << 4 | (w >> 5 & 1) << 3 | (w >> 6 & 1) << 2);
    else if ((w & 0xef83) == 0x0101)
        f->depth -= sign_extended((w >> 12 & 1) << 5 | reg, 6);
    else if ((w & 0xef83) == 0x6101)
        f->depth -= sign_extended(
            (w >> 12 & 1) << 9 | (w >> 3 & 3) << 7 | (w >> 5 & 1) << 6 | (w >> 2 & 1) << 5 | (w >> 6 & 1) << 4, 10);
    else if ((w & 0xe003) == 0xe002)
        prologue_save(f, reg, (w >> 7 & 7) << 6 | (w >> 10 & 7) << 3);
    else if ((w & 0xe003) == 0x6002)
        prologue_load(r, w >> 7 & 31);
    else if ((w & 0xe003) == 0xa001 || ((w & 0xf07f) == 0x8002 && w >> 7 & 31))
        prologue_leave(r);
    else if ((w & 0xe003) == 0x8002 && reg && (w >> 7 & 31) == REG_SP)
        f->unknown = true; /* c.mv and c.add */
}

/* addi, ld, sd, jal and jalr without a return address, and whatever else changes sp. */
static void read_long(Prologue *r, u32 w) {
    PrologueFrame *f = &r->now;
    u32 op = w & 0x7f, rd = w >> 7 & 31, what = w >> 12 & 7, rs = w >> 15 & 31;
    i64 imm = (i32)w >> 20;
    if (op == 0x13 && what == 0 && rs == REG_SP && rd == REG_SP)
        f->depth -= imm;
    else if (op == 0x13 && what == 0 && rs == REG_SP && rd == REG_FP)
        prologue_point(f, imm);
    else if (op == 0x23 && what == 3 && rs == REG_SP)
        prologue_save(f, w >> 20 & 31, (imm & ~(i64)31) | rd);
    else if (op == 0x03 && what == 3 && rs == REG_SP)
        prologue_load(r, rd);
    else if ((op == 0x6f || op == 0x67) && rd == 0)
        prologue_leave(r);
    else if ((op == 0x33 || op == 0x13) && rd == REG_SP)
        f->unknown = true;
}

u32 prologue_read(Prologue *r, u32 word) {
    bool is_long = (word & 3) == 3;
    if (is_long)
        read_long(r, word);
    else
        read_short(r, word & 0xffff);
    r->now.saved &= ~(u32)1; /* x0 is stored as a number */
    return is_long ? 4 : 2;
}

/* ---------------------------------------------------------------------------------------------------------------- signals */

static bool returns_from_handler(u64 at) {
    static const u32 returns[] = {0x08b00893, 0x00000073}; /* li a7, 139; ecall */
    u32 code[2];
    return copy_guarded(code, (const void *)at, sizeof(code)) && !memcmp(code, returns, sizeof(code));
}

/* Reads pc and x1 to x31 from the signal frame, where they are behind siginfo_t and the first part of ucontext_t. The thread may be before the two
 * instructions, between them or behind them. */
bool caller_is_signal(Caller *c) {
    enum { STATE = sizeof(SignalInfo) + 176 };
    u64 state[REGISTERS];
    if (!returns_from_handler(c->pc) && !returns_from_handler(c->pc - 4) && !returns_from_handler(c->pc - 8))
        return false;
    if (!copy_guarded(state, (const void *)(c->reg[REG_SP] + STATE), sizeof(state)))
        return false;
    c->pc = state[0];
    memcpy(c->reg + 1, state + 1, sizeof(state) - sizeof(u64));
    return true;
}
