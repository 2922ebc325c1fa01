/* caller.c: see caller.h; by the psABI of RISC-V, whose registers DWARF numbers as the instruction set does. */
#include "run/client/core/caller.h"

#include "host_context.h"
#include "run/client/memory/peek.h"

enum { REG_FP = 8, REGISTERS = 32 };

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

/* Below what s0 points to: the caller's s0, and the return address. */
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

/* gcc writes .eh_frame only for code that is to be left by exceptions. So what functions do with sp is read from their instructions, in the order of their addresses: it is
 * lowered at the beginning, and registers are saved. Behind a return, or a jump that leaves the function, everything is as it was before the registers were loaded again. */
typedef struct Frame {
    i64 depth;        /* how many bytes sp is below its value in the caller */
    bool unknown;     /* sp was changed by an amount that is not known */
    bool has_pointer; /* s0 is the stack pointer of the caller, less this: */
    i64 pointer_depth;
    u32 saved;         /* a bit for each register that is in memory: */
    i64 at[REGISTERS]; /* how far below the caller's stack pointer */
} Frame;

typedef struct Reading {
    Frame now, before; /* before: when the return address was loaded again */
    bool has_before;
} Reading;

static i64 sign_extended(u64 value, u32 bits) {
    return (i64)(value << (64 - bits)) >> (64 - bits);
}

static void save(Frame *f, u32 reg, i64 off) {
    f->saved |= (u32)1 << reg;
    f->at[reg] = f->depth - off;
}

static void set_pointer(Frame *f, i64 off) {
    f->has_pointer = true;
    f->pointer_depth = f->depth - off;
}

static void load(Reading *r, u32 reg) {
    if (reg != REG_RA || r->has_before)
        return;
    r->before = r->now;
    r->has_before = true;
}

static void leave(Reading *r) {
    if (r->has_before)
        r->now = r->before;
    r->has_before = false;
}

/* Of the unprivileged specification, "C" extension: c.addi4spn, c.addi and c.addi16sp, c.ldsp, c.sdsp, c.j, c.jr. */
static void read_short(Reading *r, u32 w) {
    Frame *f = &r->now;
    u32 reg = w >> 2 & 31;
    if ((w & 0xe003) == 0 && (reg & 7) == 0)
        set_pointer(f, (w >> 7 & 15) << 6 | (w >> 11 & 3) << 4 | (w >> 5 & 1) << 3 | (w >> 6 & 1) << 2);
    else if ((w & 0xef83) == 0x0101)
        f->depth -= sign_extended((w >> 12 & 1) << 5 | reg, 6);
    else if ((w & 0xef83) == 0x6101)
        f->depth -= sign_extended(
            (w >> 12 & 1) << 9 | (w >> 3 & 3) << 7 | (w >> 5 & 1) << 6 | (w >> 2 & 1) << 5 | (w >> 6 & 1) << 4, 10);
    else if ((w & 0xe003) == 0xe002)
        save(f, reg, (w >> 7 & 7) << 6 | (w >> 10 & 7) << 3);
    else if ((w & 0xe003) == 0x6002)
        load(r, w >> 7 & 31);
    else if ((w & 0xe003) == 0xa001 || ((w & 0xf07f) == 0x8002 && w >> 7 & 31))
        leave(r);
    else if ((w & 0xe003) == 0x8002 && reg && (w >> 7 & 31) == REG_SP)
        f->unknown = true; /* c.mv and c.add */
}

/* addi, ld, sd, jal and jalr without a return address, and whatever else changes sp. */
static void read_long(Reading *r, u32 w) {
    Frame *f = &r->now;
    u32 op = w & 0x7f, rd = w >> 7 & 31, what = w >> 12 & 7, rs = w >> 15 & 31;
    i64 imm = (i32)w >> 20;
    if (op == 0x13 && what == 0 && rs == REG_SP && rd == REG_SP)
        f->depth -= imm;
    else if (op == 0x13 && what == 0 && rs == REG_SP && rd == REG_FP)
        set_pointer(f, imm);
    else if (op == 0x23 && what == 3 && rs == REG_SP)
        save(f, w >> 20 & 31, (imm & ~(i64)31) | rd);
    else if (op == 0x03 && what == 3 && rs == REG_SP)
        load(r, rd);
    else if ((op == 0x6f || op == 0x67) && rd == 0)
        leave(r);
    else if ((op == 0x33 || op == 0x13) && rd == REG_SP)
        f->unknown = true;
}

static bool read_code(u64 at, u64 until, Frame *f) {
    enum { BYTES_MOST = 64 << 10, CHUNK = 16 };
    Reading r = {0};
    u8 bytes[CHUNK];
    if (until - at > BYTES_MOST)
        return false;
    while (at < until) {
        u32 w;
        if (!copy_guarded(bytes, (const void *)(at & ~(u64)7), at % 8 > 4 ? 16 : 8))
            return false;
        memcpy(&w, bytes + at % 8, sizeof(w));
        bool is_long = (w & 3) == 3;
        if (is_long)
            read_long(&r, w);
        else
            read_short(&r, w & 0xffff);
        at += is_long ? 4 : 2;
    }
    *f = r.now;
    return true;
}

/* The stack pointer in the caller. */
static u64 top_of(const Frame *f, const Caller *c) {
    if (!f->unknown)
        return c->reg[REG_SP] + (u64)f->depth;
    return f->has_pointer ? c->reg[REG_FP] + (u64)f->pointer_depth : 0;
}

bool caller_by_code(Caller *c, u64 start, bool behind_call) {
    Frame f;
    if (!read_code(start, c->pc, &f) || (behind_call && !(f.saved >> REG_RA & 1)))
        return false;
    Caller caller = *c;
    u64 top = caller.reg[REG_SP] = top_of(&f, c);
    for (u32 i = 1; i < REGISTERS; i++)
        if (f.saved >> i & 1 && !copy_guarded(&caller.reg[i], (const void *)(top - (u64)f.at[i]), sizeof(u64)))
            return false;
    caller.pc = caller.reg[REG_RA];
    *c = caller;
    return true;
}

/* ---------------------------------------------------------------------------------------------------------------- signals */

static bool returns_from_handler(u64 at) {
    static const u32 returns[] = {0x08b00893, 0x00000073}; /* li a7, 139; ecall */
    u32 code[2];
    return copy_guarded(code, (const void *)at, sizeof(code)) && !memcmp(code, returns, sizeof(code));
}

/* pc, and x1 to x31, as a signal frame has them: behind siginfo_t and the first part of ucontext_t. The thread may be before or behind either instruction. */
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
