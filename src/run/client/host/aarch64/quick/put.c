/* put.c: see host_put.h and code/quick/emit.h. */
#include "host_put.h"

#include "host_offsets.h"

/* Registers of such code that hold nothing of the guest's. */
enum { RESULT = 10, SCRATCH = 16, THREAD = 20, OPTIMISED_THREAD = 7, SP = 31 };

enum {
    MOVZ = 0xd2800000,
    MOVK = 0xf2800000,
    MOV = 0xaa0003e0,
    LDR = 0xf9400000,
    STR = 0xf9000000,
    STR_W = 0xb9000000,
    STP_PUSH = 0xa9bf0000, /* stp a, b, [sp, #-16]! */
    LDP_POP = 0xa8c10000,  /* ldp a, b, [sp], #16 */
    B = 0x14000000,
    BR = 0xd61f0000,
    BLR = 0xd63f0000,
    RET = 0xd65f03c0,
};

static u32 rn(u32 reg) {
    return reg << 5;
}

void put_number(Emitter *e, u32 reg, u64 value) {
    put32(e, MOVZ | (u32)(value & 0xffff) << 5 | reg);
    for (u32 i = 1; i < 4; i++)
        if (value >> 16 * i & 0xffff)
            put32(e, MOVK | i << 21 | (u32)(value >> 16 * i & 0xffff) << 5 | reg);
}

/* Always of EMIT_LEAVE_BYTES. */
static void put_exit(Emitter *e, u32 thread, u32 value, u32 where) {
    put32(e, MOVZ | (value & 0xffff) << 5 | SCRATCH);
    put32(e, MOVK | 1 << 21 | (value >> 16) << 5 | SCRATCH);
    put32(e, STR_W | THREAD_EXIT / 4 << 10 | rn(thread) | SCRATCH);
    put32(e, LDR | where / 8 << 10 | rn(thread) | SCRATCH);
    put32(e, BR | rn(SCRATCH));
}

u8 *emit_jump(Emitter *e) {
    put32(e, B);
    return e->at - 4;
}

void emit_leave(Emitter *e, u32 exit) {
    put_exit(e, THREAD, exit, THREAD_LEAVE);
}

u8 *emit_cross(const u8 *target, bool to_quick) {
    Emitter e;
    u8 *stub = e.at = arena_code(EMIT_LEAVE_BYTES, 16);
    put_exit(&e, to_quick ? OPTIMISED_THREAD : THREAD, (u32)((u64)target - the.code_base),
             to_quick ? THREAD_CROSS_LEAVE : THREAD_CROSS_ENTER);
    arena_written(stub, EMIT_LEAVE_BYTES);
    return stub;
}

/* ------------------------------------------------------------------------------------------------------------- helpers */

/* What C may change, but for the result and what nobody expects to be kept. The last is the link register. */
static const u8 kept[][2] = {{0, 1}, {2, 3}, {4, 5}, {6, 7}, {8, 9}, {11, 12}, {13, 14}, {15, 30}};

static void put_arguments(Emitter *e, bool with_state) {
    enum { ARGUMENTS = 6 };
    if (with_state)
        put32(e, MOV | THREAD << 16);
    for (u32 i = 0; i < ARGUMENTS; i++)
        put32(e, MOV | (RESULT + i) << 16 | (i + with_state));
}

void put_helper(Emitter *e, u64 function, bool with_state) {
    u8 *start = e->at;
    for (u32 i = 0; i < ARRAY_LEN(kept); i++)
        put32(e, STP_PUSH | kept[i][1] << 10 | rn(SP) | kept[i][0]);
    put_arguments(e, with_state);
    put_number(e, SCRATCH, 1);
    put32(e, STR | THREAD_HELPING / 8 << 10 | rn(THREAD) | SCRATCH);
    put_number(e, SCRATCH, function);
    put32(e, BLR | rn(SCRATCH));
    put32(e, STR | THREAD_HELPING / 8 << 10 | rn(THREAD) | SP); /* there it is xzr */
    put32(e, MOV | RESULT);
    for (u32 i = ARRAY_LEN(kept); i--;)
        put32(e, LDP_POP | kept[i][1] << 10 | rn(SP) | kept[i][0]);
    put32(e, RET);
    CHECK(e->at <= start + PUT_HELPER_BYTES, "the way to a helper is short");
    e->at = start + PUT_HELPER_BYTES;
}

/* -------------------------------------------------------------------------------------------------------------- tools */

/* On this host tools look at optimised code only (quick_works). */
const u8 put_argument[LATHE_VALUES] = {0, 1, 2, 3, 4, 5};
static const char no_tools[] = "tools have no quick code on this host";

EmitCount put_thread_add(Emitter *e, u32 off, bool small) {
    (void)e, (void)off, (void)small;
    CHECK(false, no_tools);
}

void emit_set_amount(const EmitCount *count, i32 amount) {
    (void)count, (void)amount;
    CHECK(false, no_tools);
}

void emit_set_off(const EmitCount *count, u32 off) {
    (void)count, (void)off;
    CHECK(false, no_tools);
}

u8 *emit_switch(Emitter *e, bool over) {
    (void)e, (void)over;
    CHECK(false, no_tools);
}

u64 emit_begin_switch(u8 *place, const u8 *target) {
    (void)place, (void)target;
    CHECK(false, no_tools);
}

void emit_end_switch(u8 *place, u64 bytes) {
    (void)place, (void)bytes;
    CHECK(false, no_tools);
}
