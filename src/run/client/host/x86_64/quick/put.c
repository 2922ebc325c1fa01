/* put.c: see host_put.h and code/quick/emit.h. */
#include "host_put.h"

/* A site may not cross the border of 8 aligned bytes: another thread sees it changed as a whole. */
enum { SITE_ALIGN = 8, SITE_BYTES = 4 };

void put_set(Emitter *e, u32 off, u32 value) {
    put(e, "\x65\xc7\x04\x25", 4);
    put32(e, off);
    put32(e, value);
}

EmitCount put_thread_add(Emitter *e, u32 off, bool small) {
    enum { ADD_IMM8 = 0x83, ADD_IMM32 = 0x81, OFF_AT = 5, AMOUNT_AT = 9 };
    const u8 text[] = {0x65, 0x48, small ? ADD_IMM8 : ADD_IMM32, 0x04, 0x25};
    EmitCount count = {e->at, AMOUNT_AT + (small ? 1 : 4), AMOUNT_AT, small, {OFF_AT}};
    put(e, text, sizeof(text));
    put32(e, off);
    e->at += small ? 1 : 4;
    return count;
}

void put_thread_jump(Emitter *e, u32 off) {
    put(e, "\x65\xff\x24\x25", 4);
    put32(e, off);
}

void put_alignment(Emitter *e, u64 before) {
    static const char *const nops[] = {"", "\x90", "\x66\x90", "\x0f\x1f\x00"};
    u64 at = ((u64)e->at + before) % SITE_ALIGN;
    if (at > SITE_ALIGN - SITE_BYTES)
        put(e, nops[SITE_ALIGN - at], SITE_ALIGN - at);
}

u8 *put_site(Emitter *e, const void *opcode, size_t n) {
    put_alignment(e, n);
    put(e, opcode, n);
    e->at += SITE_BYTES;
    return e->at - SITE_BYTES;
}

/* ------------------------------------------------------------------------------------------------- any general register */

const u8 put_argument[LATHE_VALUES] = {7, 6, 2, 1, 8, 9};

enum { REX = 0x40, REX_W = 8, REX_R = 4, REX_X = 2, REX_B = 1, ADDRESS32 = 0x67, LEA = 0x8d };
/* Numbers in ModRM and SIB that are no registers there. */
enum { SIB = 4, NO_BASE = 5 };

void put_number(Emitter *e, u32 reg, u64 value) {
    u8 rex = reg & 8 ? REX_B : 0;
    if (value <= UINT32_MAX) {
        if (rex)
            put8(e, REX | rex);
        put8(e, 0xb8 + (reg & 7));
        put32(e, (u32)value);
        return;
    }
    put8(e, REX | REX_W | rex);
    put8(e, 0xb8 + (reg & 7));
    put(e, &value, 8);
}

void put_operand_lea(Emitter *e, u32 to, const Operand *at) {
    bool has_base = at->base != REG_NONE, has_index = at->index != REG_NONE;
    u32 base = has_base ? at->base : NO_BASE, index = has_index ? at->index : SIB;
    u32 scale = at->scale ? (u32)__builtin_ctz(at->scale) : 0;
    bool sib = has_index || !has_base || (base & 7) == SIB;
    if (at->addr_bits == 32)
        put8(e, ADDRESS32);
    put8(e, REX | REX_W | (to & 8 ? REX_R : 0) | (index & 8 ? REX_X : 0) | (has_base && base & 8 ? REX_B : 0));
    put8(e, LEA);
    bool small = has_base && at->disp == (i8)at->disp;
    put8(e, (small ? 0x40 : has_base ? 0x80 : 0) | (to & 7) << 3 | (sib ? SIB : base & 7));
    if (sib)
        put8(e, scale << 6 | (index & 7) << 3 | (base & 7));
    if (small)
        put8(e, (u8)at->disp);
    else
        put32(e, (u32)at->disp);
}

void put_near_call(Emitter *e, u64 target) {
    put8(e, 0xe8);
    put32(e, (u32)(target - ((u64)e->at + 4)));
}

/* ---------------------------------------------------------------------------------------------------------------- ways out */

static void put_exit(Emitter *e, u32 value, u32 where) {
    put_set(e, THREAD_EXIT, value);
    put_thread_jump(e, where);
}

/* Instructions that do nothing, of up to nine bytes each (Intel's manual, NOP, has these). */
static void put_nothing(u8 *at, u32 bytes) {
    static const char *const nops[] = {
        "",
        "\x90",
        "\x66\x90",
        "\x0f\x1f\x00",
        "\x0f\x1f\x40\x00",
        "\x0f\x1f\x44\x00\x00",
        "\x66\x0f\x1f\x44\x00\x00",
        "\x0f\x1f\x80\x00\x00\x00\x00",
        "\x0f\x1f\x84\x00\x00\x00\x00\x00",
        "\x66\x0f\x1f\x84\x00\x00\x00\x00\x00",
    };
    for (u32 size; bytes; at += size, bytes -= size) {
        size = bytes < ARRAY_LEN(nops) - 1 ? bytes : ARRAY_LEN(nops) - 1;
        memcpy(arena_writable(at), nops[size], size);
    }
}

void emit_set_amount(const EmitCount *count, i32 amount) {
    if (amount)
        memcpy(arena_writable(count->at + count->amount_at), &amount, count->small ? 1 : sizeof(amount));
    else
        put_nothing(count->at, count->bytes);
}

void emit_set_off(const EmitCount *count, u32 off) {
    for (u32 i = 0; i < ARRAY_LEN(count->off_at); i++)
        if (count->off_at[i])
            memcpy(arena_writable(count->at + count->off_at[i]), &off, sizeof(off));
}

u8 *emit_jump(Emitter *e) {
    return put_site(e, "\xe9", 1);
}

#define SWITCH_MASK ((u64)-1 >> (64 - 8 * PUT_SWITCH_BYTES))

u8 *emit_switch(Emitter *e, bool over) {
    u64 at = (u64)e->at % SITE_ALIGN;
    u8 *before = e->at;
    if (at > SITE_ALIGN - PUT_SWITCH_BYTES)
        e->at += SITE_ALIGN - at;
    put_nothing(before, (u32)(e->at - before));
    if (over)
        return e->at;
    put_nothing(e->at, PUT_SWITCH_BYTES);
    e->at += PUT_SWITCH_BYTES;
    return e->at - PUT_SWITCH_BYTES;
}

/* Returns what was there. */
static u64 exchange(u8 *place, u64 bytes) {
    u32 shift = 8 * (u32)((u64)place % SITE_ALIGN);
    u64 *aligned = (u64 *)arena_writable((u8 *)((u64)place & ~(u64)(SITE_ALIGN - 1))), word = *aligned;
    __atomic_store_n(aligned, (word & ~(SWITCH_MASK << shift)) | bytes << shift, __ATOMIC_RELEASE);
    return word >> shift & SWITCH_MASK;
}

u64 emit_begin_switch(u8 *place, const u8 *target) {
    enum { JMP = 0xe9 };
    return exchange(place, JMP | (u64)(u32)(target - (place + PUT_SWITCH_BYTES)) << 8);
}

void emit_end_switch(u8 *place, u64 bytes) {
    exchange(place, bytes);
}

void emit_leave(Emitter *e, u32 exit) {
    put_exit(e, exit, THREAD_LEAVE);
}

u8 *emit_cross(const u8 *target, bool to_quick) {
    Emitter e;
    e.at = arena_code(emit_entry_bytes + EMIT_LEAVE_BYTES, 16);
    if (the.map && !to_quick)
        emit_entry(&e);
    u8 *stub = e.at;
    put_exit(&e, (u32)((u64)target - the.code_base), to_quick ? THREAD_CROSS_LEAVE : THREAD_CROSS_ENTER);
    return stub;
}

static void put_at_r13(Emitter *e, const void *text, u32 off) {
    put(e, text, 3);
    put32(e, off);
}

/* If calls of quick code have filled the stack, they are given up, so that C has room. */
static void put_room(Emitter *e) {
    put_at_r13(e, "\x49\x3b\xa5", THREAD_LIMIT);    /* cmp limit(%r13), %rsp */
    put(e, "\x73\x15", 2);                          /* jae 1f */
    put_at_r13(e, "\x41\x8f\x85", THREAD_CALLS_SP); /* popq calls_sp(%r13): the address to return to */
    put_at_r13(e, "\x49\x8b\xa5", THREAD_HOST_SP);  /* mov host_sp(%r13), %rsp */
    put_at_r13(e, "\x41\xff\xb5", THREAD_CALLS_SP); /* pushq calls_sp(%r13) */
}

/* All registers but rax are the same afterwards: C keeps rbx, rbp and r12 to r15, and helpers are compiled not to use those for floating point. The stack may
 * be aligned to 8 bytes only. */
void put_helper(Emitter *e, u64 function, bool with_state) {
    u8 *start = e->at;
    put_room(e);
    put(e, "\x51\x52\x56\x57\x41\x50\x41\x51\x41\x52\x41\x53", 12); /* push rcx, rdx, rsi, rdi, r8, r9, r10, r11 */
    if (with_state)
        put(e, "\x49\x89\xc0\x48\x89\xce\x4c\x89\xd9\x4c\x89\xef",
            12); /* mov %rax, %r8; %rcx, %rsi; %r11, %rcx; %r13, %rdi */
    else
        put(e, "\x48\x89\xcf\x48\x89\xd6\x4c\x89\xda\x48\x89\xc1",
            12); /* mov %rcx, %rdi; %rdx, %rsi; %r11, %rdx; %rax, %rcx */
    put_set(e, THREAD_HELPING, 1);
    put(e, "\xe8", 1); /* call */
    put32(e, (u32)(function - ((u64)e->at + 4)));
    put_set(e, THREAD_HELPING, 0);
    put(e, "\x41\x5b\x41\x5a\x41\x59\x41\x58\x5f\x5e\x5a\x59\xc3", 13); /* pop them; ret */
    e->at = start + PUT_HELPER_BYTES;
}
